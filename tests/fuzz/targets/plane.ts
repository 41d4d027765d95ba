import { setMaxListeners } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { allKinds } from "@isthmus/api";
import { createRequest } from "@isthmus/certificates";
import { clusterRegistrations, type Server, serverRoles, startServer, systemClock } from "@isthmus/plane";
import {
  createServerIdentity,
  DEFAULT_AUTHORITY,
  type GrpcServer,
  grpcConnector,
  type ServerIdentity,
  startGrpcServer,
} from "@isthmus/relay";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { startFullAgent } from "../../security/harness/fullAgent.ts";
import { NAMESPACE } from "../drawing/fleetObjects.ts";
import { grpcFrame } from "../drawing/frames.ts";
import { bytes, textFields } from "../drawing/protobuf.ts";
import { OthersHarmed } from "../target.ts";
import { goodCluster, operatorsObjects, SILENT } from "./goodInputs.ts";

// Tokens of fewer than 32 characters are warned about.
export const TOKEN = "the relay identity token of a fuzzed plane";
const GOOD_CLUSTER = "good-1";
const clock = systemClock;
// So often the good cluster must look the same before inputs begin.
const QUIET_LOOKS = 3;

/** A management server on a real socket, with one good agent, which is connected and applies what it is sent. */
export interface Plane {
  readonly identity: ServerIdentity;
  readonly grpc: GrpcServer;
  readonly server: Server;
  /** A connection of any client: with the certificate of the evil cluster's agent, or without. */
  connect(identity?: AgentIdentity): ClientHttp2Session;
  register(clusterName: string): Promise<AgentIdentity>;
  /** Throws OthersHarmed when the good cluster does not hold what it held, or its agent is not connected. */
  checkGoodCluster(): void;
  stop(): Promise<void>;
}

export interface AgentIdentity {
  readonly cert: string;
  readonly key: string;
}

export async function startPlane(): Promise<Plane> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const { signal } = stop;
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    // Who joins is recorded when it does.
    ...operatorsObjects().filter(({ kind }) => kind !== "KubernetesCluster"),
  ]);
  const identity = await createServerIdentity({ now: clock.now() });
  let link: RunningServerLink | undefined;
  const server = startServer(
    {
      cluster: management,
      link: (handler) => {
        const options = { serverId: "fuzzed", handler, clock, random: Math.random, log: SILENT, tellsFirst: true };
        link = startServerLink({ ...options, remembers: (name) => server.store.remembers(name) }, signal);
        return link;
      },
      ...serverRoles(NAMESPACE),
      resumeDeletes: () => Promise.resolve(),
      namespace: NAMESPACE,
      translation: { namespace: NAMESPACE, stage: "all" },
      clock,
      random: Math.random,
      log: SILENT,
    },
    signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  const registrations = clusterRegistrations(management, {
    namespace: NAMESPACE,
    view: () => server.view,
    revokedBefore: (name) => server.revokedBefore(name),
  });
  const wire = { host: "127.0.0.1", port: 0, identity, accept: link.accept, registrations, token: () => TOKEN };
  const grpc = await startGrpcServer({ ...wire, clock, log: SILENT });
  const address = `127.0.0.1:${grpc.port}`;

  const good = await goodCluster(GOOD_CLUSTER, signal);
  let held: Parameters<NonNullable<Parameters<typeof grpcConnector>[0]["credentials"]>["save"]>[0] | undefined;
  const connector = grpcConnector({
    address,
    clusterName: GOOD_CLUSTER,
    clusterUid: "uid-of-good",
    root: async () => identity.root,
    token: async () => TOKEN,
    credentials: {
      load: async () => held,
      async save(credentials) {
        held = credentials;
      },
    },
    clock,
    random: Math.random,
    log: SILENT,
  });
  let state = "";
  const agent = startFullAgent(
    {
      cluster: good,
      clusterUid: "uid-of-good",
      connector,
      log: SILENT,
      state(now) {
        state = now;
      },
    },
    signal,
  );
  let before = "";
  // On a busy machine a pause does not mean that all has come.
  for (let same = 0; same < QUIET_LOOKS; await sleep(400)) {
    const now = oursIn(good);
    same = now !== "" && now === before && state === "connected" ? same + 1 : 0;
    before = now;
  }

  function open(agentIdentity?: AgentIdentity): ClientHttp2Session {
    const session = connect(`https://${address}`, { ca: identity.root, servername: DEFAULT_AUTHORITY, ...agentIdentity });
    session.on("error", () => undefined);
    return session;
  }

  return {
    identity,
    grpc,
    server,
    connect: open,
    async register(clusterName) {
      const session = open();
      const { request, key } = await createRequest(clusterName);
      const message = Buffer.concat([bytes(1, TOKEN), bytes(2, request), bytes(3, clusterName), bytes(4, `uid-of-${clusterName}`)]);
      const answer = await answerTo(callOf(session, "/relay.v1.RegistrationService/Register"), [message]);
      session.close();
      const cert = textFields(answer.subarray(5)).get(1);
      if (cert === undefined) throw new Error(`${clusterName} cannot register: ${answer.toString("latin1")}`);
      return { cert, key };
    },
    checkGoodCluster() {
      const now = oursIn(good);
      if (now !== before) throw new OthersHarmed(`${GOOD_CLUSTER} holds\n${now}\ninstead of\n${before}`);
      if (state !== "connected") throw new OthersHarmed(`the agent of ${GOOD_CLUSTER} is ${state}`);
    },
    async stop() {
      stop.abort(new Error("the fuzzing is over"));
      await Promise.all([server.ended, agent.ended]);
      await grpc.close();
    },
  };
}

/** A gRPC call, its head sent. */
export function callOf(session: ClientHttp2Session, path: string, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
  const call = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers });
  call.on("error", () => undefined);
  return call;
}

/** Sends messages and the end; what came back when the call has ended, however it did. */
export async function answerTo(call: ClientHttp2Stream, messages: readonly Buffer[], ends = true): Promise<Buffer> {
  const parts: Buffer[] = [];
  call.on("data", (part: Buffer) => parts.push(part));
  const closed = new Promise<void>((resolve) => call.on("close", () => resolve()));
  for (const message of messages) call.write(grpcFrame(message));
  if (ends) call.end();
  await closed;
  return Buffer.concat(parts);
}

/** What bears our label in a cluster, with its version: written again, it has another one. */
function oursIn(cluster: SimulatedCluster): string {
  return cluster
    .objects()
    .filter(({ metadata }) => metadata.labels?.["owner.networking.mesh.gloo.solo.io"] !== undefined)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}.${metadata.namespace ?? ""} ${metadata.resourceVersion ?? ""}`)
    .join("\n");
}
