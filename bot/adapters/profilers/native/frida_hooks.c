/* Times calls of watched functions inside of the program; compiled there by Frida (CModule), x86-64.
 *
 * Each thread has a stack of open calls, a tree of call paths and a ring of calls that ended. It alone writes
 * them; the script's thread alone reads them (`drain`). No lock, no allocation but a thread's first. Stores
 * become visible in their order: x86-64 does so, and this compiler does not move them. */

#include <glib.h>
#include <gum/guminterceptor.h>

#define MONOTONIC 1
#define DEEPEST 64      /* open watched calls of a thread; those further in are not recorded */
#define MOST_NODES 4096 /* call paths of a thread; further ones count to the path without callers */
#define RING 65536      /* calls of a thread between two visits of the script */
#define MOST_THREADS 512
#define MOST_FUNCTIONS 4096
#define MAGIC 0x53555350

typedef struct { gint64 seconds, nanoseconds; } Moment;
typedef struct { guint32 parent, function, child, sibling; } Node; /* 0: none; nodes[0] is not used */
typedef struct { guint64 nanoseconds; guint32 node, below; } Call;
typedef struct { gpointer * slot; gpointer returns, trampoline; guint64 since; guint32 node, below; gboolean freed; } Open;
typedef struct {
  volatile gint taken;
  guint depth, nodes, told, lost, unfinished, roots;
  volatile gint written, read;
  Open open[DEEPEST];
  Node node[MOST_NODES];
  Call ring[RING];
} Thread;
typedef struct {
  volatile gint on, threads, refused;
  guint key;
  gpointer trampoline[MOST_FUNCTIONS]; /* where Gum makes a function return to; NULL: not known yet */
  Thread * thread[MOST_THREADS];
} State;
typedef struct { guint32 magic, thread, lost, unfinished, nodes, calls; } Block;

extern State state;
extern int clock_gettime (int clock, Moment * moment);
extern int pthread_key_create (guint * key, void (* ended) (gpointer));
extern int pthread_key_delete (guint key);
extern gpointer pthread_getspecific (guint key);
extern int pthread_setspecific (guint key, gpointer value);

/* A thread ended: what it recorded stays, another one goes on with its place. */
static void
give_back (gpointer thread)
{
  Thread * mine = thread;
  mine->unfinished += mine->depth;
  mine->depth = 0;
  g_atomic_int_add (&mine->taken, -1);
}

static Thread *
take (void)
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
      g_atomic_int_add (&state.refused, 1);
      return NULL;
    }
    mine = g_malloc0 (sizeof (Thread));
    mine->taken = 1;
    mine->nodes = mine->told = 1;
    state.thread[i] = mine;
  }
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
  node = mine->nodes++;
  mine->node[node].parent = parent;
  mine->node[node].function = function;
  mine->node[node].sibling = *first;
  *first = node;
  return node;
}

static guint64
now (void)
{
  Moment moment;
  clock_gettime (MONOTONIC, &moment);
  return (guint64) moment.seconds * 1000000000 + moment.nanoseconds;
}

/* Calls that were left by a jump, or returned unseen after a watch ended, have no trampoline on the stack. */
static void
forget_left (Thread * mine, gpointer * stack)
{
  while (mine->depth != 0)
  {
    Open * last = &mine->open[mine->depth - 1];
    if (last->slot >= stack && *last->slot == (last->freed ? last->returns : last->trampoline))
      break;
    mine->depth--;
    mine->unfinished++;
  }
}

void
enter (GumInvocationContext * ic)
{
  guint * place = gum_invocation_context_get_listener_invocation_data (ic, sizeof (guint));
  gpointer * stack = (gpointer *) ic->cpu_context->rsp;
  Thread * mine;
  Open * open;
  guint32 function, parent;
  *place = 0;
  function = GPOINTER_TO_SIZE (gum_invocation_context_get_listener_function_data (ic));
  if (!state.on || state.trampoline[function] == NULL)
    return;
  mine = pthread_getspecific (state.key);
  if (mine == NULL && (mine = take ()) == NULL)
    return;
  forget_left (mine, stack);
  parent = mine->depth == 0 ? 0 : mine->open[mine->depth - 1].node;
  if (mine->depth == DEEPEST)
  {
    mine->lost++;
    return;
  }
  open = &mine->open[mine->depth];
  open->node = node_of (mine, parent, function);
  open->slot = stack;
  open->returns = *stack;
  open->trampoline = state.trampoline[function];
  open->freed = FALSE;
  open->below = 0;
  *place = ++mine->depth;
  open->since = now ();
}

void
leave (GumInvocationContext * ic)
{
  guint64 end = now ();
  guint place = *(guint *) gum_invocation_context_get_listener_invocation_data (ic, sizeof (guint));
  Thread * mine = pthread_getspecific (state.key);
  Open * open;
  Call * call;
  if (place == 0 || mine == NULL || place > mine->depth)
    return;
  mine->unfinished += mine->depth - place;
  mine->depth = place - 1;
  open = &mine->open[mine->depth];
  if (mine->depth != 0)
    mine->open[mine->depth - 1].below += open->below + 1;
  if (open->node == 0 || mine->written - mine->read >= RING)
  {
    mine->lost++;
    return;
  }
  call = &mine->ring[(guint) mine->written % RING];
  call->nanoseconds = end - open->since;
  call->node = open->node;
  call->below = open->below;
  mine->written++;
}

/* An unwinder has to find the callers' addresses on the stack. Inner calls first: of two at one place (a tail
 * call) the inner one returns to the trampoline of the other. */
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
    if (*open->slot == open->trampoline)
    {
      *open->slot = open->returns;
      open->freed = TRUE;
    }
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
      *open->slot = open->trampoline;
    open->freed = FALSE;
  }
}

void
start (void)
{
  pthread_key_create (&state.key, give_back);
}

/* Calls that began while watched and have not ended. */
guint
open_calls (void)
{
  guint i, count = 0;
  for (i = 0; i != (guint) state.threads; i++)
    if (state.thread[i] != NULL)
      count += state.thread[i]->depth;
  return count;
}

/* Only when no hook can run any more. */
void
stop (void)
{
  guint i, known = state.threads;
  pthread_key_delete (state.key);
  state.threads = 0;
  for (i = 0; i != known; i++)
  {
    g_free (state.thread[i]);
    state.thread[i] = NULL;
  }
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
