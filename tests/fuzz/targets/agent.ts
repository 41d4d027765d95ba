import { setMaxListeners } from "node:events";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { allKinds } from "@isthmus/api";
import { type Clock, kindKeyOf } from "@isthmus/core";
import { agentRoles, startAgent, systemClock } from "@isthmus/plane";
import { createServerIdentity, grpcConnector } from "@isthmus/relay";
import { startAgentLink } from "@isthmus/relay/session";
import { simulatedCluster } from "@isthmus/simulator";
import { EVIL, NAMESPACE } from "../drawing/fleetObjects.ts";
import { framed, grpcFrame, unframed } from "../drawing/frames.ts";
import { number } from "../drawing/protobuf.ts";
import { serverMessage, welcome } from "../drawing/relayMessages.ts";
import { OthersHarmed, type Target } from "../target.ts";
import { SILENT } from "./goodInputs.ts";

/** Who was cut off comes back at once, not after the pauses that a fleet needs. */
const hasty: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal) };

// An agent that waits for its server connects within this time, in ms, or it never will.
const CONNECT_MS = 8_000;

const USERS = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "users", namespace: "default" }, data: { a: "b" } };

/** What a management server in an attacker's hands says to an agent, whose cluster holds an object of a user. */
export const agent: Target = {
  name: "agent",
  about: "messages of a hostile management server to a whole agent, over TLS; objects of its cluster's users beside it",
  draw(random) {
    const parts = [random.int(20) === 0 ? serverMessage(random, 0n, 1) : Buffer.concat([number(1, 0), welcome(random)])];
    for (let revision = 1, most = 1 + random.int(6); revision <= most; revision++) parts.push(serverMessage(random, 0n, revision));
    return framed(parts);
  },
  async start() {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const identity = await createServerIdentity({ now: Date.now() });
    const waiting: ((stream: ServerHttp2Stream) => void)[] = [];
    const arrived: ServerHttp2Stream[] = [];
    const server = createSecureServer({ cert: identity.server.certificate, key: identity.server.key });
    server.on("sessionError", () => undefined);
    server.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      const next = waiting.shift();
      if (next === undefined) arrived.push(stream);
      else next(stream);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const cluster = simulatedCluster({ name: EVIL, clock: systemClock, kinds: allKinds() });
    cluster.load([NAMESPACE, "default"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
    cluster.load([USERS]);
    const connector = grpcConnector({
      address: `127.0.0.1:${port}`,
      clusterName: EVIL,
      clusterUid: "uid",
      root: async () => identity.root,
      token: async () => "t".repeat(40),
      credentials: undefined,
      clock: hasty,
      random: () => 0,
      log: SILENT,
    });
    const roles = agentRoles(NAMESPACE);
    const linked = {
      clusterName: EVIL,
      kinds: roles.sentKinds.map(kindKeyOf),
      agent: { instance: "fuzzed", version: "1", agentNamespace: NAMESPACE, clusterUid: "uid" },
      connector,
      clock: hasty,
      random: () => 0,
      log: SILENT,
    };
    const running = startAgent(
      {
        cluster,
        link: (handler) => startAgentLink({ ...linked, handler }, stop.signal),
        ...roles,
        clock: systemClock,
        random: () => 0,
        log: SILENT,
      },
      stop.signal,
    );
    const usersVersion = () => cluster.object({ ...USERS, name: "users", namespace: "default" })?.metadata.resourceVersion;
    const before = usersVersion();

    /** The agent's next stream, and the epoch that its hello says. */
    function nextStream(): Promise<ServerHttp2Stream> {
      const stream = arrived.shift();
      if (stream !== undefined) return Promise.resolve(stream);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new OthersHarmed("the agent does not connect any more")), CONNECT_MS);
        waiting.push((next) => {
          clearTimeout(timer);
          resolve(next);
        });
      });
    }

    return {
      async take(input) {
        const stream = await nextStream();
        const hello = await new Promise<Buffer>((resolve) => {
          stream.once("data", resolve);
          stream.once("close", () => resolve(Buffer.alloc(0)));
        });
        stream.resume();
        const epoch = epochOf(hello.subarray(5));
        for (const message of unframed(input)) if (stream.writable) stream.write(grpcFrame(inEpoch(message, epoch)));
        const closed = new Promise<void>((resolve) => (stream.destroyed ? resolve() : stream.on("close", () => resolve())));
        stream.end();
        await closed;
        if (usersVersion() !== before) throw new OthersHarmed("an object of a user of the cluster has been changed");
      },
      async stop() {
        stop.abort(new Error("the fuzzing is over"));
        server.close();
        await running.ended;
      },
    };
  },
};

function epochOf(message: Buffer): bigint {
  let epoch = 0n;
  // Its first field; see ConnectRequest.
  for (let at = 1, shift = 0n; at < message.length; at++, shift += 7n) {
    const byte = message[at] ?? 0;
    epoch |= BigInt(byte & 127) << shift;
    if (byte < 128) break;
  }
  return epoch;
}

/** Of two fields with one number the last counts: a message that was drawn for no epoch gets that of the stream. */
function inEpoch(message: Buffer, epoch: bigint): Buffer {
  return message[0] === 8 && message[1] === 0 ? Buffer.concat([number(1, epoch), message.subarray(2)]) : message;
}
