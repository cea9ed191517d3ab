/* Times calls of watched functions inside of the program; compiled there by Frida (CModule), x86-64.
 *
 * Gum calls `enter` at the begin of a function, which makes it return to a piece of code of ours (the way back)
 * that calls `leave`. Gum could do that, too, but not give the stack back to an unwinder.
 * Each thread has a stack of open calls, a tree of call paths and a ring of calls that ended. It alone writes
 * them; the script's thread alone reads them (`drain`). No lock, no allocation but a thread's first. Stores
 * become visible in their order: x86-64 does so, and this compiler does not move them. */

#include <glib.h>
#include <gum/guminterceptor.h>

#define MONOTONIC 1
#define DEEPEST 64      /* open watched calls of a thread; those further in are not recorded */
#define MOST_ASIDE 64
#define MOST_NODES 4096 /* call paths of a thread; calls over further ones are not recorded */
#define RING 65536      /* calls of a thread between two visits of the script */
#define MOST_THREADS 512
#define MAGIC 0x53555350

typedef struct { gint64 seconds, nanoseconds; } Moment;
typedef struct { guint32 parent, function, child, sibling; } Node; /* 0: none; nodes[0] is not used */
typedef struct { guint64 nanoseconds; guint32 node, below; } Call;
typedef struct { gpointer * slot; gpointer returns; guint64 since; guint32 node, below; gboolean freed; } Open;
typedef struct {
  volatile gint taken;
  guint id, depth, nodes, told, lost, unfinished, roots, aside, round, begun, skipped;
  volatile gint written, read;
  Open open[DEEPEST];
  Open left[MOST_ASIDE]; /* as a ring: what may have been left by a jump, or wait on another stack */
  Node node[MOST_NODES];
  Call ring[RING];
} Thread;
typedef struct {
  volatile gint on, threads;
  guint key, pad;
  gpointer way_back;
  guint round, most; /* times that functions were hooked; calls of a thread that are recorded each time */
  Thread * thread[MOST_THREADS];
} State;
typedef struct { guint32 magic, thread, lost, unfinished, nodes, calls; } Block;
typedef struct { guint64 thread; gpointer * slot; } Way;

extern State state;
extern int clock_gettime (int clock, Moment * moment);
extern int pthread_key_create (guint * key, void (* ended) (gpointer));
extern int pthread_key_delete (guint key);
extern gpointer pthread_getspecific (guint key);
extern int pthread_setspecific (guint key, gpointer value);
extern void abort (void);

/* A thread ended: what it recorded stays, another one goes on with its place. */
static void
give_back (gpointer thread)
{
  Thread * mine = thread;
  mine->unfinished += mine->depth;
  mine->depth = 0;
  g_atomic_int_add (&mine->taken, -1);
}

int
start (void)
{
  return pthread_key_create (&state.key, give_back);
}

/* Gum calls this when no hook can run any more. */
void
finalize (void)
{
  gint i;
  pthread_key_delete (state.key);
  for (i = 0; i != state.threads; i++)
    g_free (state.thread[i]);
}

static Thread *
take (guint id)
{
  Thread * mine = NULL;
  gint i, known = state.threads;
  for (i = 0; i < known && mine == NULL; i++)
  {
    if (state.thread[i] == NULL)
      continue;
    if (g_atomic_int_add (&state.thread[i]->taken, 1) == 0)
      mine = state.thread[i];
    else
      g_atomic_int_add (&state.thread[i]->taken, -1);
  }
  if (mine == NULL)
  {
    i = g_atomic_int_add (&state.threads, 1);
    if (i >= MOST_THREADS)
    {
      g_atomic_int_add (&state.threads, -1);
      return NULL;
    }
    mine = g_malloc0 (sizeof (Thread));
    mine->taken = 1;
    mine->nodes = mine->told = 1;
    state.thread[i] = mine;
  }
  mine->id = id;
  pthread_setspecific (state.key, mine);
  return mine;
}

static guint32
node_of (Thread * mine, guint32 parent, guint32 function)
{
  guint32 node, * first = parent == 0 ? &mine->roots : &mine->node[parent].child;
  for (node = *first; node != 0; node = mine->node[node].sibling)
    if (mine->node[node].function == function)
      return node;
  if (mine->nodes == MOST_NODES)
    return 0;
  node = mine->nodes;
  mine->node[node].parent = parent;
  mine->node[node].function = function;
  mine->node[node].sibling = *first;
  *first = node;
  mine->nodes++;
  return node;
}

static guint64
now (void)
{
  Moment moment;
  clock_gettime (MONOTONIC, &moment);
  return (guint64) moment.seconds * 1000000000 + moment.nanoseconds;
}

/* Calls below the stack's end were left by a jump, unless this is another stack (of a signal): both are kept
 * aside. Others have returned to where an unwinder was told, if the way back is not on the stack any more. */
static void
forget_left (Thread * mine, gpointer * stack)
{
  while (mine->depth != 0)
  {
    Open * last = &mine->open[mine->depth - 1];
    if (last->slot < stack)
      mine->left[mine->aside++ % MOST_ASIDE] = *last;
    else if (*last->slot == (last->freed ? last->returns : state.way_back))
      break;
    mine->depth--;
    mine->unfinished++;
  }
}

void
enter (GumInvocationContext * ic)
{
  gpointer * stack = (gpointer *) ic->cpu_context->rsp;
  Thread * mine;
  Open * open;
  guint32 node, parent;
  if (!state.on)
    return;
  mine = pthread_getspecific (state.key);
  if (mine == NULL && (mine = take (gum_invocation_context_get_thread_id (ic))) == NULL)
    return;
  forget_left (mine, stack);
  if (mine->round != state.round)
  {
    mine->round = state.round;
    mine->begun = 0;
  }
  if (mine->begun == state.most)
  {
    mine->skipped++;
    return;
  }
  mine->begun++;
  parent = mine->depth == 0 ? 0 : mine->open[mine->depth - 1].node;
  node = node_of (mine, parent, GPOINTER_TO_SIZE (gum_invocation_context_get_listener_function_data (ic)));
  if (node == 0 || mine->depth == DEEPEST)
  {
    mine->lost++;
    return;
  }
  open = &mine->open[mine->depth++];
  open->node = node;
  open->slot = stack;
  open->returns = *stack;
  open->freed = FALSE;
  open->below = 0;
  *stack = state.way_back;
  open->since = now ();
}

static void
record (Thread * mine, Open * open, guint64 end)
{
  Call * call = &mine->ring[(guint) mine->written % RING];
  if (mine->depth != 0)
    mine->open[mine->depth - 1].below += open->below + 1;
  if ((guint) mine->written - (guint) mine->read >= RING)
  {
    mine->lost++;
    return;
  }
  call->nanoseconds = end - open->since;
  call->node = open->node;
  call->below = open->below;
  mine->written++;
}

/* Where a call returns to whose return address was just below `above`. */
gpointer
leave (gpointer * above)
{
  guint64 end = now ();
  Thread * mine = pthread_getspecific (state.key);
  guint i;
  for (i = mine == NULL ? 0 : mine->depth; i-- != 0;)
  {
    if (mine->open[i].slot != above - 1)
      continue;
    mine->unfinished += mine->depth - 1 - i;
    mine->depth = i;
    if (state.on)
      record (mine, &mine->open[i], end);
    return mine->open[i].returns;
  }
  for (i = mine == NULL ? 0 : MOST_ASIDE; i-- != 0;)
  {
    Open * open = &mine->left[(mine->aside + i) % MOST_ASIDE];
    if (open->slot != above - 1)
      continue;
    open->slot = NULL;
    return open->returns;
  }
  abort ();
  return NULL;
}

/* An unwinder has to find the callers' addresses on the stack. Inner calls first: of two at one place (a tail
 * call) the inner one returns to the way back of the other. */
void
unwinding (GumInvocationContext * ic)
{
  Thread * mine = pthread_getspecific (state.key);
  guint i;
  if (mine == NULL)
    return;
  forget_left (mine, (gpointer *) ic->cpu_context->rsp);
  for (i = mine->depth; i-- != 0;)
  {
    Open * open = &mine->open[i];
    if (open->freed || *open->slot != state.way_back)
      continue;
    *open->slot = open->returns;
    open->freed = TRUE;
  }
}

/* The exception was caught: calls that are still open are watched again. */
void
caught (GumInvocationContext * ic)
{
  Thread * mine = pthread_getspecific (state.key);
  guint i;
  if (mine == NULL)
    return;
  forget_left (mine, (gpointer *) ic->cpu_context->rsp);
  for (i = 0; i != mine->depth; i++)
  {
    Open * open = &mine->open[i];
    if (open->freed && *open->slot == open->returns)
    {
      *open->slot = state.way_back;
      open->freed = FALSE;
    }
  }
}

/* Calls that may not have ended: thread, and where the way back is on its stack if they have not. */
guint
open_calls (Way * out, guint capacity)
{
  guint i, n, count = 0;
  for (i = 0; i != (guint) state.threads; i++)
  {
    Thread * one = state.thread[i];
    for (n = 0; one != NULL && n != DEEPEST + MOST_ASIDE && count != capacity; n++)
    {
      Open * open = n < DEEPEST ? &one->open[n] : &one->left[n - DEEPEST];
      if (open->slot == NULL || !one->taken)
        continue;
      out[count].thread = one->id;
      out[count++].slot = open->slot;
    }
  }
  return count;
}

/* Calls that were hooked, but too many to be recorded. */
guint
skipped_calls (void)
{
  guint i, count = 0;
  for (i = 0; i != (guint) state.threads; i++)
    if (state.thread[i] != NULL)
      count += state.thread[i]->skipped;
  return count;
}

/* Blocks of what threads recorded since the last visit: counts, new paths (parent, function), calls. */
guint
drain (guint8 * out, guint capacity)
{
  guint8 * at = out;
  guint i, n;
  for (i = 0; i != (guint) state.threads; i++)
  {
    Thread * one = state.thread[i];
    Block * block = (Block *) at;
    guint calls, nodes, first;
    if (one == NULL)
      continue;
    calls = (guint) one->written - (guint) one->read;
    nodes = one->nodes - one->told;
    if ((calls == 0 && nodes == 0) || capacity - (at - out) < sizeof (Block) + 8 * nodes + sizeof (Call))
      continue;
    n = (capacity - (at - out) - sizeof (Block) - 8 * nodes) / sizeof (Call);
    if (calls > n)
      calls = n;
    block->magic = MAGIC;
    block->thread = i;
    block->lost = one->lost;
    block->unfinished = one->unfinished;
    block->nodes = nodes;
    block->calls = calls;
    at += sizeof (Block);
    for (n = 0; n != nodes; n++, at += 8)
    {
      ((guint32 *) at)[0] = one->node[one->told + n].parent;
      ((guint32 *) at)[1] = one->node[one->told + n].function;
    }
    one->told += nodes;
    first = one->read;
    for (n = 0; n != calls; n++, at += sizeof (Call))
      *(Call *) at = one->ring[(first + n) % RING];
    one->read = first + calls;
  }
  return at - out;
}
