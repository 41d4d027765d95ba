import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { DEFAULT_AUTHORITY } from "@isthmus/relay";
import type { Random } from "../../faults/random.ts";
import { mutatedBytes } from "../drawing/mutated.ts";
import type { Target } from "../target.ts";
import { startPlane } from "./plane.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [RAW, WITHIN_TLS] = [0, 1];
const TYPES = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, push: 5, ping: 6, goAway: 7, window: 8, continuation: 9 } as const;
const CHECK_EACH = 64;
// So long the server has for an answer, in ms; most ends a connection by itself.
const ANSWER_MS = 15;

/** The beginning of a client hello. */
const CLIENT_HELLO = Buffer.concat([
  Buffer.from("16030100c8010000c40303", "hex"),
  Buffer.alloc(60, 7),
  Buffer.from("0004130113020100", "hex"),
]);

/** Bytes on the relay's port: before TLS, or HTTP/2 within it, from somebody without a certificate. */
export const tlsPort: Target = {
  name: "tls-port",
  about: "bytes on the relay's port: no TLS, broken TLS, HTTP/2 frames in any order within it; a good agent beside it",
  draw(random) {
    if (random.int(6) === 0)
      return Buffer.concat([Buffer.from([RAW]), mutatedBytes(random.int(2) === 0 ? CLIENT_HELLO : PREFACE, random, 3)]);
    const parts = [Buffer.from([WITHIN_TLS]), ...(random.int(12) === 0 ? [] : [PREFACE, frame(TYPES.settings, 0, 0, Buffer.alloc(0))])];
    for (let left = 1 + random.int(8); left > 0; left--) {
      const one = anyFrame(random);
      // The same frame many times: pings, resets, empty data and settings each have cost servers dearly.
      for (let times = random.pick([1, 1, 1, 1, 10, 500]); times > 0; times--) parts.push(one);
    }
    return mutatedBytes(Buffer.concat(parts), random, random.int(4) === 0 ? 1 : 0);
  },
  async start() {
    const plane = await startPlane();
    const place = { host: "127.0.0.1", port: plane.grpc.port };
    let inputs = 0;
    return {
      async take(input) {
        const isRaw = input[0] === RAW;
        const tls = { ...place, ca: plane.identity.root, servername: DEFAULT_AUTHORITY, ALPNProtocols: ["h2"] };
        await sent(isRaw ? connectTcp(place) : connectTls(tls), isRaw ? "connect" : "secureConnect", input.subarray(1));
        if (++inputs % CHECK_EACH === 0) plane.checkGoodCluster();
      },
      stop: plane.stop,
    };
  },
};

function sent(socket: Socket, opened: "connect" | "secureConnect", content: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
    socket.once(opened, () => {
      socket.write(content);
      setTimeout(() => socket.destroy(), ANSWER_MS);
    });
  });
}

/** Source: RFC 9113, 4.1. */
function frame(type: number, flags: number, stream: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(Math.min(length, 0xff_ffff), 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

// HPACK: indexed fields (:method POST, :scheme https), literals with lengths that lie, and updates of the table's size.
const BLOCKS: readonly Buffer[] = [
  Buffer.concat([
    Buffer.from([0x83, 0x87, 0x44, 0x1e]),
    Buffer.from("/relay.v1.RelayService/Connect"),
    Buffer.from([0x5f, 0x10]),
    Buffer.from("application/grpc"),
  ]),
  Buffer.from([0x82, 0x87, 0x84]),
  Buffer.from([0x40, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  Buffer.from([0x3f, 0xff, 0xff, 0xff, 0x7f]),
  Buffer.concat([Buffer.from([0x00, 0x01, 0x61, 0x7f, 0x81, 0x7f]), Buffer.alloc(16_000, 0x61)]),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
];

function anyFrame(random: Random): Buffer {
  const type = random.int(12) === 0 ? random.int(256) : random.pick(Object.values(TYPES));
  const stream = random.pick([0, 1, 1, 1, 3, 5, 2, 0x7fff_ffff, 0xffff_ffff]);
  const flags = random.pick([0, 1, 4, 5, 0x25, 8, 0xff]);
  const noise = Buffer.alloc(random.pick([0, 1, 4, 5, 8, 100]), random.int(256));
  const payload = type === TYPES.headers || type === TYPES.continuation ? random.pick(BLOCKS) : noise;
  return frame(type, flags, stream, payload, random.int(12) === 0 ? random.pick([0, 1, 16_384, 16_385, 0xff_ffff]) : payload.length);
}
