package suspects;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A StackMapTable whose code was moved (Java Virtual Machine Specification, 4.7.4). */
final class Frames {
    private final ByteBuffer in;
    private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(buffer);
    private final int distance;

    private Frames(byte[] table, int distance) {
        in = ByteBuffer.wrap(table);
        this.distance = distance;
    }

    static byte[] moved(byte[] table, int distance) throws IOException {
        return new Frames(table, distance).move();
    }

    private byte[] move() throws IOException {
        int frames = in.getShort() & 0xffff;
        out.writeShort(frames);
        for (int i = 0; i < frames; i++) {
            frame(i == 0 ? distance : 0); // the others' offsets are counted from the one before
        }
        return buffer.toByteArray();
    }

    private void frame(int more) throws IOException {
        int type = in.get() & 0xff;
        if (type < 64) {
            small(type, more, 0, 251);
        } else if (type < 128) {
            small(type - 64, more, 64, 247);
            types(1);
        } else {
            out.writeByte(type);
            out.writeShort((in.getShort() & 0xffff) + more);
            if (type == 247) {
                types(1);
            } else if (type > 251 && type < 255) {
                types(type - 251);
            } else if (type == 255) {
                types(copied());
                types(copied());
            }
        }
    }

    private void small(int offset, int more, int base, int extended) throws IOException {
        if (offset + more < 64) {
            out.writeByte(base + offset + more);
        } else {
            out.writeByte(extended);
            out.writeShort(offset + more);
        }
    }

    private int copied() throws IOException {
        int number = in.getShort() & 0xffff;
        out.writeShort(number);
        return number;
    }

    private void types(int number) throws IOException {
        for (int i = 0; i < number; i++) {
            int tag = in.get();
            out.writeByte(tag);
            if (tag == 7) {
                out.writeShort(in.getShort());
            } else if (tag == 8) {
                out.writeShort((in.getShort() & 0xffff) + distance); // where an object not yet initialised was made
            }
        }
    }
}
