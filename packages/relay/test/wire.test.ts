import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { refOf } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { RegisterRequestSchema, RegisterResponseSchema } from "../src/gen/relay/v1/registration_pb.ts";
import { ConnectRequestSchema, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { agentSession, stepAgent } from "../src/session/agentSession.ts";
import { wantNow } from "../src/session/clusterWant.ts";
import { serverSession, stepServer } from "../src/session/serverSession.ts";
import { converse } from "./conversations.ts";
import { KINDS, virtualService, wantedSet } from "./world.ts";

// Recordings of the wire, one folder for each version. A later version must still understand them: its decoder reads every
// frame, its server makes the same of an old agent's words, and its agent the same of an old server's. They are written once,
// with RECORD_WIRE=1, when a version of the wire is new, and never changed after that.

interface Recording {
  readonly frames: readonly { readonly from: "agent" | "server"; readonly body: string; readonly base64: string }[];
  /** What the server's loops were told. */
  readonly server: readonly unknown[];
  /** What the agent's loops were told. */
  readonly agent: readonly unknown[];
}

const FOLDER = fileURLToPath(new URL("../testdata/wire", import.meta.url));

if (process.env["RECORD_WIRE"] === "1") {
  mkdirSync(`${FOLDER}/v1`, { recursive: true });
  for (const [name, recording] of Object.entries(converse())) {
    const file = `${FOLDER}/v1/${name}.json`;
    if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(recording, undefined, 2)}\n`);
  }
}

const recordings = readdirSync(FOLDER).flatMap((version) =>
  readdirSync(`${FOLDER}/${version}`).map((file) => ({ version, file, path: `${FOLDER}/${version}/${file}` })),
);

test("there are recordings of version 1", () => {
  expect(
    recordings
      .filter(({ version }) => version === "v1")
      .map(({ file }) => file)
      .sort(),
  ).toEqual(["parts.json", "registration.json", "session.json"]);
});

describe.each(recordings.filter(({ file }) => file !== "registration.json"))("$version/$file", ({ path }) => {
  const { frames, server, agent }: Recording = JSON.parse(readFileSync(path, "utf8"));

  test("is understood by this server", () => {
    let session = serverSession({
      clusterName: "cluster-1",
      serverId: "server-1",
      heartbeatMs: 10_000,
      expiresAt: undefined,
      want: undefined,
      now: 0,
    });
    const told: unknown[] = [];
    for (const frame of frames) {
      if (frame.from === "server") {
        // What the old server said, this one has to have said too, or an answer to it would be out of place.
        const said = fromBinary(ConnectResponseSchema, Buffer.from(frame.base64, "base64"));
        if (said.body.case === "down") {
          for (let revision = session.down.sentRevision; revision < said.body.value.revision && said.body.value.last; revision++) {
            const step = wantNow(undefined, wantedSet([virtualService("cluster-1", `r${revision}`)]), {
              evidenceOf: () => ({
                reason: "InputChanged",
                inputs: [refOf(virtualService("cluster-1", "x"))],
              }),
            });
            session = stepServer(session, { type: "wanted", step })[0];
            session = stepServer(session, { type: "flush" })[0];
          }
        }
        if (said.body.case === "ask")
          session = stepServer(session, { type: "ask", question: { topic: said.body.value.topic, body: said.body.value.body } })[0];
        continue;
      }
      const message = fromBinary(ConnectRequestSchema, Buffer.from(frame.base64, "base64"));
      expect(message.body.case).toBe(frame.body);
      expect(Buffer.from(toBinary(ConnectRequestSchema, message)).toString("base64")).toBe(frame.base64);
      const [next, effects] = stepServer(session, { type: "received", message, now: 1 });
      session = next;
      for (const effect of effects) {
        expect(effect.type).not.toBe("end");
        if (effect.type === "observed") told.push({ observed: effect.observation });
        if (effect.type === "synced")
          told.push({ synced: [...effect.complete].map(([kind, keys]) => [kind, [...keys]]), unserved: [...effect.unserved] });
        if (effect.type === "acknowledged") told.push({ acknowledged: effect.acknowledgement });
        if (effect.type === "answered")
          told.push({ answered: "error" in effect.reply ? effect.reply.error : Buffer.from(effect.reply.body).toString("utf8") });
      }
    }
    expect(JSON.parse(JSON.stringify(told))).toEqual(server);
  });

  test("is understood by this agent", () => {
    const first = frames[0] === undefined ? undefined : fromBinary(ConnectRequestSchema, Buffer.from(frames[0].base64, "base64"));
    let session = agentSession({
      clusterName: "cluster-1",
      agent: { instance: "agent-1", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid" },
      kinds: KINDS,
    });
    session = stepAgent(session, { type: "opened", epoch: first?.epoch ?? 0n, now: 0 })[0];
    const told: unknown[] = [];
    for (const frame of frames) {
      if (frame.from === "agent") continue;
      const message = fromBinary(ConnectResponseSchema, Buffer.from(frame.base64, "base64"));
      expect(message.body.case).toBe(frame.body);
      expect(Buffer.from(toBinary(ConnectResponseSchema, message)).toString("base64")).toBe(frame.base64);
      if (message.body.case === "upAck") continue;
      const [next, effects] = stepAgent(session, { type: "received", message, now: 1 });
      session = next;
      for (const effect of effects) {
        expect(effect.type).not.toBe("end");
        if (effect.type === "deliver") told.push({ desired: effect.desired });
        if (effect.type === "ask") told.push({ asked: effect.question.topic });
        if (effect.type === "drain") told.push({ drain: effect.reconnectAfterMs });
      }
    }
    expect(JSON.parse(JSON.stringify(told))).toEqual(agent);
  });
});

test("a recorded registration is understood", () => {
  const { request, response } = JSON.parse(readFileSync(`${FOLDER}/v1/registration.json`, "utf8"));
  expect(fromBinary(RegisterRequestSchema, Buffer.from(request, "base64"))).toMatchObject({
    token: "token",
    certificateRequest: "request in PEM",
    clusterName: "cluster-1",
    clusterUid: "uid",
  });
  expect(fromBinary(RegisterResponseSchema, Buffer.from(response, "base64"))).toMatchObject({
    certificateChain: "chain in PEM",
    root: "root in PEM",
  });
});
