import { allKinds, KubernetesCluster, Secret } from "@isthmus/api";
import { keepJoinTokens, REPLACE, REVOKED_BEFORE, systemClock } from "@isthmus/plane";
import { simulatedCluster } from "@isthmus/simulator";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { clusterCommand } from "../src/commands/cluster/cluster.ts";
import { inheriting } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const namespace = "gloo-mesh";
const { apiVersion, kind } = KubernetesCluster;

function management() {
  const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: allKinds() });
  cluster.load([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion, kind, metadata: { name: "east", namespace, annotations: { mine: "kept" } } },
  ]);
  const io = recordedIo();
  const run = (...args: string[]) =>
    inheriting(
      clusterCommand(io, async () => cluster),
      new Command().exitOverride().configureOutput({ writeErr: io.err }),
    ).parseAsync(args, { from: "user" });
  const annotations = async () => (await cluster.get(KubernetesCluster, { name: "east", namespace }))?.metadata.annotations;
  return { cluster, io, run, annotations };
}

describe("meshctl cluster", () => {
  it("creates a join token: the token alone on standard output, what to do with it beside", async () => {
    const { cluster, io, run } = management();
    await run("token", "create", "--cluster", "west", "--ttl", "10m");
    expect(io.written.out).toMatch(/^isthmus-join\.[a-z0-9]{12}\.[\w-]{43}\n$/);
    expect(io.written.err).toMatch(/With this token, west can join once until .*relay-identity-token-secret \(key token\)/s);
    const token = io.written.out.trim();
    const kept = keepJoinTokens(cluster, { namespace, clock: systemClock });
    expect(await kept.find(token, "west")).toHaveProperty("createdAt");
    const late = keepJoinTokens(cluster, { namespace, clock: { now: () => Date.now() + 600_000 } });
    expect(await late.find(token, "west")).toHaveProperty("problem");
  });

  it("clears away join tokens that have expired, and no other", async () => {
    const { cluster, run } = management();
    await run("token", "create", "--cluster", "west", "--ttl", "0s").catch(() => undefined);
    await run("token", "create", "--cluster", "west", "--ttl", "1s");
    await run("token", "create", "--cluster", "north");
    await systemClock.sleep(1_050);
    await run("token", "create", "--cluster", "south");
    const left = (await cluster.list(Secret, { namespace })).items.map(({ metadata }) => metadata.labels?.["isthmus.mesh/join-token"]);
    expect(left.sort()).toEqual(["north", "south"]);
  });

  it("revokes, each time later than before, and undoes it", async () => {
    const { run, annotations, io } = management();
    await run("revoke", "east");
    const first = (await annotations())?.[REVOKED_BEFORE] ?? "";
    await run("revoke", "east");
    const second = (await annotations())?.[REVOKED_BEFORE] ?? "";
    expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
    expect(io.written.err).toContain("meshctl cluster token create --cluster east");
    await run("revoke", "east", "--undo");
    expect(await annotations()).toEqual({ mine: "kept" });
  });

  it.each([
    [["revoke", "east"], "KubernetesCluster gloo-mesh/east: would be changed\n"],
    [["revoke", "east", "--rotate-token"], expect.stringContaining("Secret gloo-mesh/relay-identity-token-secret: would be ")],
    [["replace", "east"], "KubernetesCluster gloo-mesh/east: would be changed\n"],
    [["token", "create", "--cluster", "west"], expect.stringMatching(/^Secret gloo-mesh\/relay-join-token-\w+: would be created\n$/)],
  ])("tries %j without a change", async (args, told) => {
    const { cluster, io, run } = management();
    const before = cluster.objects();
    await run(...args, "--dry-run");
    expect(io.written).toEqual({ out: told, err: "Nothing was changed (--dry-run).\n" });
    expect(cluster.objects()).toEqual(before);
  });

  it("prints the Secrets of the shared token as one List, too", async () => {
    const { cluster, io, run } = management();
    const secret = (name: string, data: object) => ({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data });
    cluster.load([
      secret("relay-root-tls-secret", { "ca.crt": btoa("root") }),
      secret("relay-identity-token-secret", { token: btoa("the shared token") }),
    ]);
    await run("token", "shared", "-o", "json");
    expect(JSON.parse(io.written.out)).toMatchObject({
      kind: "List",
      items: expect.arrayContaining([expect.objectContaining({ kind: "Secret" })]),
    });
  });

  it("prints all that an agent needs, as Secrets to be applied where it runs", async () => {
    const { cluster, io, run } = management();
    const secret = (name: string, data: object) => ({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data });
    cluster.load([
      secret("relay-root-tls-secret", { "ca.crt": btoa("the root") }),
      secret("relay-identity-token-secret", { token: btoa("the shared token") }),
    ]);
    const printed = () => {
      const secrets = parseAllDocuments(io.written.out).map((document) => Secret.parse(document.toJS()));
      io.written.out = "";
      return Object.fromEntries(secrets.map(({ metadata, data = {} }) => [`${metadata.name}.${metadata.namespace}`, data]));
    };
    await run("token", "create", "--cluster", "west", "--manifest", "--agent-namespace", "mesh");
    const joining = printed();
    expect(joining["relay-root-tls-secret.mesh"]).toEqual({ "ca.crt": btoa("the root") });
    const token = atob(joining["relay-identity-token-secret.mesh"]?.["token"] ?? "");
    expect(await keepJoinTokens(cluster, { namespace, clock: systemClock }).find(token, "west")).toHaveProperty("createdAt");
    await run("token", "shared");
    expect(printed()).toEqual({
      "relay-root-tls-secret.gloo-mesh": { "ca.crt": btoa("the root") },
      "relay-identity-token-secret.gloo-mesh": { token: btoa("the shared token") },
    });
  });

  it("replaces the shared token with a revocation, if it is asked to, and says who needs what then", async () => {
    const { cluster, io, run, annotations } = management();
    const tokenNow = async () =>
      atob((await cluster.get(Secret, { name: "relay-identity-token-secret", namespace }))?.data?.["token"] ?? "");
    await run("revoke", "east");
    expect(await tokenNow()).toBe("");
    await run("revoke", "east", "--rotate-token");
    const first = await tokenNow();
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(io.written.err).toMatch(/has a new shared token.*RELAY_TOKEN/s);
    await run("revoke", "east", "--rotate-token");
    expect(await tokenNow()).not.toBe(first);
    expect((await annotations())?.[REVOKED_BEFORE]).toBeDefined();
    await expect(run("revoke", "east", "--undo", "--rotate-token")).rejects.toThrow(/mutually exclusive/);
  });

  it("lets a name go, once for each time it is said", async () => {
    const { run, annotations } = management();
    await run("replace", "east");
    const first = (await annotations())?.[REPLACE];
    await systemClock.sleep(2);
    await run("replace", "east");
    expect((await annotations())?.[REPLACE]).not.toBe(first);
  });

  it.each([
    [["revoke", "nowhere"], /cluster nowhere is not registered: KubernetesCluster gloo-mesh\/nowhere not found/],
    [["token", "shared"], /gloo-mesh\/relay-identity-token-secret does not have the key token/],
    [["token", "create", "--cluster", "East_1"], /East_1 is not a valid cluster name/],
    [["token", "create", "--cluster", "east", "--ttl", "2d"], /2d is not a duration such as 30m or 2h/],
    [["token", "create", "--cluster", "east", "--ttl", "25h"], /at most 24h/],
  ])("says what is wrong with %j", async (args, message) => {
    const { run } = management();
    await expect(run(...args)).rejects.toThrow(message);
  });
});
