package suspects;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * Rewrites one class file. A counted method begins with a call of {@code Recorder.count}; a timed one is moved to a
 * private method behind a wrapper, so that its own code stays as it is. Format: Java Virtual Machine Specification, 4.
 */
final class Weaver {
    /** What to do with a method: its number, or -1 for nothing. */
    interface Choice {
        int of(String name, boolean synthetic);
    }

    private static final int PRIVATE = 2, STATIC = 8, FINAL = 16, SYNCHRONIZED = 32, INTERFACE = 0x200;
    private static final int SYNTHETIC = 0x1000, VISIBILITY = 7, BRIDGE = 0x40, VARARGS = 0x80;
    private static final int PROLOGUE = 8; // a multiple of four: switches in the code stay aligned

    private static final int DEEPEST = 6; // number, array twice, index, and a value of two
    private static final Map<String, String> BOXES =
            Map.of("I", "Integer", "J", "Long", "F", "Float", "D", "Double", "Z", "Boolean", "C", "Character");

    private final ByteBuffer in;
    private final ByteArrayOutputStream added = new ByteArrayOutputStream();
    private final DataOutputStream constants = new DataOutputStream(added);
    private final Map<String, Integer> known = new HashMap<>();
    private int[] places;
    private int count;
    private int self;
    private boolean isInterface;
    private boolean changed;
    private final IntPredicate told;

    private Weaver(byte[] bytes, IntPredicate told) {
        in = ByteBuffer.wrap(bytes);
        this.told = told;
    }

    /** The class with its methods counted or timed, arguments of some told; null when nothing was to do. */
    static byte[] woven(byte[] bytes, Choice choice, boolean timed, IntPredicate told) throws IOException {
        return new Weaver(bytes, told).weave(choice, timed);
    }

    private static final class Attribute {
        final int name;
        final byte[] content;

        Attribute(int name, byte[] content) {
            this.name = name;
            this.content = content;
        }
    }

    private byte[] weave(Choice choice, boolean timed) throws IOException {
        in.position(8);
        readConstants();
        int afterConstants = in.position();
        isInterface = (in.getShort(afterConstants) & INTERFACE) != 0;
        self = in.getShort(afterConstants + 2) & 0xffff;
        in.position(afterConstants + 6);
        in.position(in.position() + 2 + 2 * (in.getShort(in.position()) & 0xffff));
        int fields = in.getShort() & 0xffff;
        for (int i = 0; i < fields; i++) {
            in.position(in.position() + 6);
            attributes();
        }
        int beforeMethods = in.position();
        int methods = in.getShort() & 0xffff;
        ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(buffer);
        int written = 0;
        for (int i = 0; i < methods; i++) {
            written += method(out, choice, timed);
        }
        return changed && count <= 0xffff && written <= 0xffff ? assembled(afterConstants, beforeMethods, written, buffer) : null;
    }

    private byte[] assembled(int afterConstants, int beforeMethods, int written, ByteArrayOutputStream methods)
            throws IOException {
        byte[] all = in.array();
        ByteArrayOutputStream result = new ByteArrayOutputStream(all.length + added.size() + 1024);
        DataOutputStream out = new DataOutputStream(result);
        out.write(all, 0, 8);
        out.writeShort(count);
        out.write(all, 10, afterConstants - 10);
        out.write(added.toByteArray());
        out.write(all, afterConstants, beforeMethods - afterConstants);
        out.writeShort(written);
        out.write(methods.toByteArray());
        out.write(all, in.position(), all.length - in.position());
        return result.toByteArray();
    }

    private int method(DataOutputStream out, Choice choice, boolean timed) throws IOException {
        int access = in.getShort() & 0xffff;
        int name = in.getShort() & 0xffff;
        int type = in.getShort() & 0xffff;
        List<Attribute> attributes = attributes();
        int code = -1;
        for (int i = 0; i < attributes.size(); i++) {
            code = text(attributes.get(i).name).equals("Code") ? i : code;
        }
        int number = code < 0 ? -1 : choice.of(text(name), (access & SYNTHETIC) != 0);
        boolean special = text(name).startsWith("<");
        if (number >= 0 && timed && !special) {
            changed = true;
            Attribute moved = attributes.remove(code);
            int hidden = utf8(text(name) + "$suspects");
            int hiddenAccess = access & ~(VISIBILITY | FINAL | BRIDGE | VARARGS) | PRIVATE | SYNTHETIC;
            write(out, hiddenAccess, hidden, type, List.of(moved));
            attributes.add(new Attribute(moved.name, wrapper(number, hidden, type, (access & STATIC) != 0)));
            write(out, access & ~SYNCHRONIZED, name, type, attributes);
            return 2;
        }
        byte[] counted = number >= 0 ? counted(attributes.get(code).content, number) : null;
        if (counted != null) {
            changed = true;
            attributes.set(code, new Attribute(attributes.get(code).name, counted));
        }
        write(out, access, name, type, attributes);
        return 1;
    }

    private static void write(DataOutputStream out, int access, int name, int type, List<Attribute> attributes)
            throws IOException {
        out.writeShort(access);
        out.writeShort(name);
        out.writeShort(type);
        write(out, attributes);
    }

    private static void write(DataOutputStream out, List<Attribute> attributes) throws IOException {
        out.writeShort(attributes.size());
        for (Attribute one : attributes) {
            out.writeShort(one.name);
            out.writeInt(one.content.length);
            out.write(one.content);
        }
    }

    /** The Code of a method that calls the moved one between `enter` and `leave`. */
    private byte[] wrapper(int number, int hidden, int type, boolean isStatic) throws IOException {
        ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        DataOutputStream code = new DataOutputStream(buffer);
        code.writeByte(0x11); // sipush
        code.writeShort(number);
        List<String> given = arguments(text(type));
        boolean mine = told.test(number);
        if (mine) {
            boxed(code, given, isStatic ? 0 : 1);
        }
        call(code, "suspects/Recorder", "enter", mine ? "(I[Ljava/lang/Object;)Lsuspects/Trace;" : "(I)Lsuspects/Trace;");
        ByteArrayOutputStream frameBuffer = new ByteArrayOutputStream();
        DataOutputStream frame = new DataOutputStream(frameBuffer);
        int slots = isStatic ? 0 : 1;
        for (String one : given) {
            slots += one.equals("J") || one.equals("D") ? 2 : 1;
        }
        code.writeByte(0x3a); // astore
        code.writeByte(slots);
        int start = code.size();
        int slot = 0;
        frame.writeShort(given.size() + (isStatic ? 1 : 2));
        if (!isStatic) {
            code.writeShort(0x1900); // aload 0
            frame.writeByte(7);
            frame.writeShort(self);
            slot = 1;
        }
        for (String one : given) {
            code.writeByte(0x15 + family(one));
            code.writeByte(slot);
            slot += one.equals("J") || one.equals("D") ? 2 : 1;
            verification(frame, one);
        }
        frame.writeByte(7);
        frame.writeShort(type("suspects/Trace"));
        frame.writeShort(1);
        frame.writeByte(7);
        frame.writeShort(type("java/lang/Throwable"));
        code.writeByte(isStatic ? 0xb8 : 0xb7); // invokestatic, invokespecial
        code.writeShort(reference(isInterface ? 11 : 10, self, nameAndType(hidden, type)));
        int end = code.size();
        leave(code, slots);
        String result = text(type).substring(text(type).indexOf(')') + 1);
        code.writeByte(result.equals("V") ? 0xb1 : 0xac + family(result));
        int handler = code.size();
        leave(code, slots);
        code.writeByte(0xbf); // athrow
        return code(slots, buffer.toByteArray(), new int[] {start, end, handler}, frameBuffer.toByteArray());
    }

    private void leave(DataOutputStream code, int slot) throws IOException {
        code.writeByte(0x19); // aload
        code.writeByte(slot);
        call(code, "suspects/Recorder", "leave", "(Lsuspects/Trace;)V");
    }

    private void call(DataOutputStream code, String owner, String name, String type) throws IOException {
        code.writeByte(0xb8); // invokestatic
        code.writeShort(reference(10, type(owner), nameAndType(utf8(name), utf8(type))));
    }

    /** Leaves an array of the arguments on the stack. */
    private void boxed(DataOutputStream code, List<String> given, int slot) throws IOException {
        code.writeByte(0x11); // sipush
        code.writeShort(given.size());
        code.writeByte(0xbd); // anewarray
        code.writeShort(type("java/lang/Object"));
        for (int i = 0; i < given.size(); i++) {
            String one = given.get(i);
            code.writeByte(0x59); // dup
            code.writeByte(0x11);
            code.writeShort(i);
            code.writeByte(0x15 + family(one));
            code.writeByte(slot);
            slot += one.equals("J") || one.equals("D") ? 2 : 1;
            if (family(one) != 4) {
                String plain = one.equals("B") || one.equals("S") ? "I" : one;
                String box = "java/lang/" + BOXES.get(plain);
                call(code, box, "valueOf", "(" + plain + ")L" + box + ";");
            }
            code.writeByte(0x53); // aastore
        }
    }

    private byte[] code(int slots, byte[] code, int[] range, byte[] frame) throws IOException {
        ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(buffer);
        out.writeShort(Math.max(slots + 3, DEEPEST));
        out.writeShort(slots + 1);
        out.writeInt(code.length);
        out.write(code);
        out.writeShort(1);
        for (int place : range) {
            out.writeShort(place);
        }
        out.writeShort(0); // whatever is thrown
        out.writeShort(1);
        out.writeShort(utf8("StackMapTable"));
        out.writeInt(5 + frame.length);
        out.writeShort(1);
        out.writeByte(255); // a full frame
        out.writeShort(range[2]);
        out.write(frame);
        return buffer.toByteArray();
    }

    private void verification(DataOutputStream frame, String type) throws IOException {
        int family = family(type);
        frame.writeByte(new int[] {1, 4, 2, 3, 7}[family]);
        if (family == 4) {
            frame.writeShort(type(type.startsWith("L") ? type.substring(1, type.length() - 1) : type));
        }
    }

    /** 0 int, 1 long, 2 float, 3 double, 4 reference: the order of load, store and return instructions. */
    private static int family(String type) {
        switch (type.charAt(0)) {
            case 'J': return 1;
            case 'F': return 2;
            case 'D': return 3;
            case 'L': case '[': return 4;
            default: return 0;
        }
    }

    private static List<String> arguments(String type) {
        List<String> found = new ArrayList<>();
        for (int at = 1; type.charAt(at) != ')'; ) {
            int end = at;
            while (type.charAt(end) == '[') {
                end++;
            }
            end = type.charAt(end) == 'L' ? type.indexOf(';', end) + 1 : end + 1;
            found.add(type.substring(at, end));
            at = end;
        }
        return found;
    }

    /** The same Code behind a call of `count`; null when it would become too long. */
    private byte[] counted(byte[] content, int number) throws IOException {
        ByteBuffer code = ByteBuffer.wrap(content);
        int stack = code.getShort() & 0xffff;
        int locals = code.getShort() & 0xffff;
        int length = code.getInt();
        if (length + PROLOGUE > 0xffff) {
            return null;
        }
        ByteArrayOutputStream buffer = new ByteArrayOutputStream(content.length + 64);
        DataOutputStream out = new DataOutputStream(buffer);
        out.writeShort(Math.max(stack, 1));
        out.writeShort(locals);
        out.writeInt(length + PROLOGUE);
        out.writeByte(0x13); // ldc_w
        out.writeShort(integer(number));
        out.writeByte(0xb8);
        out.writeShort(reference(10, type("suspects/Recorder"), nameAndType(utf8("count"), utf8("(I)V"))));
        out.writeShort(0); // nop, nop
        out.write(content, code.position(), length);
        code.position(code.position() + length);
        int handlers = code.getShort() & 0xffff;
        out.writeShort(handlers);
        for (int i = 0; i < handlers; i++) {
            for (int place = 0; place < 3; place++) {
                out.writeShort((code.getShort() & 0xffff) + PROLOGUE);
            }
            out.writeShort(code.getShort());
        }
        List<Attribute> kept = new ArrayList<>();
        for (Attribute one : attributes(code)) {
            if (text(one.name).equals("StackMapTable")) {
                kept.add(new Attribute(one.name, Frames.moved(one.content, PROLOGUE)));
            } else if (text(one.name).equals("LineNumberTable")) {
                ByteBuffer lines = ByteBuffer.wrap(one.content);
                for (int at = 2; at < one.content.length; at += 4) {
                    lines.putShort(at, (short) (lines.getShort(at) + PROLOGUE));
                }
                kept.add(one);
            } // the others are for debuggers, and hold places too
        }
        write(out, kept);
        return buffer.toByteArray();
    }

    private List<Attribute> attributes() {
        return attributes(in);
    }

    private static List<Attribute> attributes(ByteBuffer from) {
        int number = from.getShort() & 0xffff;
        List<Attribute> found = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            int name = from.getShort() & 0xffff;
            byte[] content = new byte[from.getInt()];
            from.get(content);
            found.add(new Attribute(name, content));
        }
        return found;
    }

    private void readConstants() {
        count = in.getShort() & 0xffff;
        places = new int[count];
        for (int i = 1; i < count; i++) {
            places[i] = in.position();
            int tag = in.get();
            switch (tag) {
                case 1: in.position(in.position() + 2 + (in.getShort(in.position()) & 0xffff)); break;
                case 7: case 8: case 16: case 19: case 20: in.position(in.position() + 2); break;
                case 15: in.position(in.position() + 3); break;
                case 5: case 6: in.position(in.position() + 8); i++; break;
                default: in.position(in.position() + 4);
            }
        }
    }

    /** A constant's text (modified UTF-8 differs only where names do not go). */
    private String text(int index) {
        int place = places[index];
        return new String(in.array(), place + 3, in.getShort(place + 1) & 0xffff, StandardCharsets.UTF_8);
    }

    private int added(String key, byte[] content) throws IOException {
        Integer index = known.get(key);
        if (index == null) {
            index = count++;
            known.put(key, index);
            constants.write(content);
        }
        return index;
    }

    private int utf8(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        out.writeUTF(text);
        return added("1" + text, bytes.toByteArray());
    }

    private int type(String name) throws IOException {
        int text = utf8(name);
        return added("7" + text, new byte[] {7, (byte) (text >> 8), (byte) text});
    }

    private int integer(int value) throws IOException {
        return added("3" + value, ByteBuffer.allocate(5).put((byte) 3).putInt(value).array());
    }

    private int nameAndType(int name, int type) throws IOException {
        return pair(12, name, type);
    }

    private int reference(int kind, int owner, int nameAndType) throws IOException {
        return pair(kind, owner, nameAndType);
    }

    private int pair(int tag, int first, int second) throws IOException {
        byte[] bytes = ByteBuffer.allocate(5).put((byte) tag).putShort((short) first).putShort((short) second).array();
        return added(tag + "/" + first + "/" + second, bytes);
    }
}
