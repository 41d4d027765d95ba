import type { ClientHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { Service } from "@isthmus/api";
import { type Random, seededRandom } from "../../faults/random.ts";
import { EVIL } from "../drawing/fleetObjects.ts";
import { framed, grpcFrame, unframed } from "../drawing/frames.ts";
import { hostileText } from "../drawing/hostile.ts";
import { mutatedBytes } from "../drawing/mutated.ts";
import { hostilePem } from "../drawing/pem.ts";
import { PEM_SEEDS, REQUEST } from "../drawing/pemSeeds.ts";
import { bytes, spoiltMessage } from "../drawing/protobuf.ts";
import { agentMessage, emptyMessage, helloMessage, up, upMessage, upOf } from "../drawing/relayMessages.ts";
import type { Target } from "../target.ts";
import { answerTo, callOf, type Plane, startPlane, TOKEN } from "./plane.ts";

const CONNECT = "/relay.v1.RelayService/Connect";
const PATHS = [
  "/relay.v1.RegistrationService/Register",
  "/relay.v1.RegistrationService/Renew",
  CONNECT,
  "/grpc.health.v1.Health/Check",
  "/x",
  "/",
];
// A look at the good cluster costs about as much as an input.
const CHECK_EACH = 64;
// What is no hello gets no answer, and a stream of it no end: so long is waited, in ms.
const WELCOME_MS = 100;
const ANSWER_MS = 500;

function checked(plane: Plane, take: (input: Buffer) => Promise<void>): (input: Buffer) => Promise<void> {
  let inputs = 0;
  return async (input) => {
    await take(input);
    if (++inputs % CHECK_EACH === 0) plane.checkGoodCluster();
  };
}

/** News on a stream that is open and synced, each of it said twice: what is known is compared with what comes. */
export const relay: Target = {
  name: "relay",
  about: "objects from an agent with a good certificate, over TLS to a whole management server; a good agent beside it",
  draw: up,
  async start() {
    const plane = await startPlane();
    const identity = await plane.register(EVIL);
    let session = plane.connect(identity);
    let call: ClientHttp2Stream | undefined;
    let seq = 0;

    async function synced(): Promise<ClientHttp2Stream> {
      if (session.destroyed || session.closed) session = plane.connect(identity);
      const next = callOf(session, CONNECT, { "x-cluster-id": EVIL });
      seq = 0;
      next.write(grpcFrame(helloMessage(soberly, EPOCH)));
      await firstAnswer(next, OPENING_MS);
      next.write(grpcFrame(emptyMessage(EPOCH)));
      return next;
    }

    async function take(input: Buffer): Promise<void> {
      if (call === undefined || call.destroyed || !call.writable) call = await synced();
      const answered = firstAnswer(call, WELCOME_MS);
      for (const _ of [1, 2]) call.write(grpcFrame(upMessage(input, { epoch: EPOCH, seq: ++seq })));
      await answered;
    }

    await take(upOf(Service, SOUND, soberly));
    for (const until = performance.now() + OPENING_MS; plane.server.store.snapshotIn(EVIL).of(Service).size !== 1; await sleep(10)) {
      if (performance.now() > until) throw new Error("the server does not take what an agent reports");
    }
    return {
      take: checked(plane, take),
      async stop() {
        session.destroy();
        await plane.stop();
      },
    };
  },
};

const SOUND = JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "a", namespace: "b", clusterName: EVIL } });
const EPOCH = 7n;
const OPENING_MS = 100_000;
/** Always the usual. */
const soberly: Random = { next: () => 0.99, int: (below) => below - 1, pick: (choices) => choices[0] as (typeof choices)[0] };

/** Streams of an agent that has a certificate and is in an attacker's hands. */
export const streams: Target = {
  name: "streams",
  about: "whole streams of an agent with a good certificate: hello, then anything; a good agent beside it",
  draw(random) {
    const epoch = BigInt(random.int(1_000));
    const messages = [random.int(20) === 0 ? agentMessage(random, { epoch, seq: 1 }) : helloMessage(random, epoch)];
    if (random.int(4) > 0) messages.push(emptyMessage(epoch));
    let again = random.int(2 ** 31);
    for (let seq = 1, most = 1 + random.int(6); seq <= most; seq++) {
      // The same once more, as it is said after each resync.
      if (random.int(3) > 0) again = random.int(2 ** 31);
      messages.push(agentMessage(seededRandom(again), { epoch, seq }));
    }
    return framed(messages);
  },
  async start() {
    const plane = await startPlane();
    const identity = await plane.register(EVIL);
    let session = plane.connect(identity);
    return {
      take: checked(plane, async (input) => {
        if (session.destroyed || session.closed) session = plane.connect(identity);
        const [hello = Buffer.alloc(0), ...messages] = unframed(input);
        const call = callOf(session, CONNECT, { "x-cluster-id": EVIL });
        const ended = answerTo(call, [hello], false);
        await Promise.race([firstAnswer(call, WELCOME_MS), ended]);
        // Cut off, when it does not end by itself: an answer to each is not to be expected.
        const cut = setTimeout(() => call.close(8), ANSWER_MS);
        for (const message of messages) if (!call.destroyed) call.write(grpcFrame(message));
        call.end();
        await ended;
        clearTimeout(cut);
      }),
      async stop() {
        session.destroy();
        await plane.stop();
      },
    };
  },
};

function firstAnswer(call: ClientHttp2Stream, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, patienceMs);
    call.once("data", done);
    call.once("close", done);
  });
}

/** Calls of somebody without a certificate, with and without the token. */
export const joining: Target = {
  name: "joining",
  about: "calls without a certificate: registration, renewal, streams, health, anything; a good agent beside it",
  draw(random) {
    const path = random.int(2) === 0 ? (PATHS[0] ?? "") : random.pick(PATHS);
    const request = random.int(4) === 0 ? Buffer.from(REQUEST) : hostilePem(random, PEM_SEEDS);
    const word = (usual: string) => (random.int(6) > 0 ? usual : (JSON.parse(hostileText(random)) as string));
    const fields = [bytes(1, word(TOKEN)), bytes(2, request), bytes(3, word(`evil-${random.int(20)}`)), bytes(4, word("uid"))];
    const message = random.int(20) === 0 ? mutatedBytes(Buffer.concat(fields), random, 4) : Buffer.concat(fields);
    return framed([Buffer.from(path), ...Array.from({ length: 1 + random.int(2) }, () => spoiltMessage(message, random))]);
  },
  async start() {
    const plane = await startPlane();
    let session = plane.connect();
    return {
      take: checked(plane, async (input) => {
        if (session.destroyed || session.closed) session = plane.connect();
        const [path = Buffer.alloc(0), ...messages] = unframed(input);
        const call = callOf(session, path.toString("latin1").replace(/[^!-~]/g, ""));
        const cut = setTimeout(() => call.close(8), ANSWER_MS);
        await answerTo(call, messages);
        clearTimeout(cut);
      }),
      async stop() {
        session.destroy();
        await plane.stop();
      },
    };
  },
};
