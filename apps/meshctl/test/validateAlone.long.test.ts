import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { hasUserStatus, kindOf, Settings } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const POLICIES = `${root}docs/examples/policies.yaml`;

interface Found {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

async function run(args: readonly string[], text = "") {
  const io = recordedIo(text);
  const code = await meshctl(["validate", ...args], io);
  return { code, ...io.written };
}

async function findingsIn(text: string): Promise<readonly Found[]> {
  const { out } = await run(["-", "-o", "json"], text);
  return out === "" ? [] : (JSON.parse(out) as { readonly findings: readonly Found[] }).findings;
}

const codesIn = async (text: string) => (await findingsIn(text)).map(({ severity, code }) => `${severity} ${code}`);

function policy(name: string, spec: string): string {
  return `---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: ${name}, namespace: shop}
spec: ${spec}
`;
}

const NAMED = "destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: east}]}}]";
const VIRTUAL_DESTINATION = `---
apiVersion: networking.enterprise.mesh.gloo.solo.io/v1beta1
kind: VirtualDestination
metadata: {name: cart, namespace: shop}
spec:
  hostname: cart.shop.global
  port: {number: 80, protocol: http}
  virtualMesh: {name: all, namespace: gloo-mesh}
  localized: {destinationSelectors: [{kubeServiceMatcher: {namespaces: [shop]}}]}
`;
const VIRTUAL_MESH = `---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: all, namespace: gloo-mesh}
spec: {meshes: [{name: istiod-east, namespace: gloo-mesh}]}
`;

describe("meshctl validate without a cluster in the input", () => {
  it("accepts policies that are right, and says once what it left", async () => {
    const { code, out, err } = await run([POLICIES]);
    expect({ code, err }).toEqual({ code: 0, err: "2 objects read; 0 errors, 0 warnings\n" });
    expect(out).toMatch(/^info: the input has no cluster, .* \[ClusterNotGiven\]\n$/);
    expect((await run([POLICIES, "--insights"])).out).not.toMatch(/not found/);
  });

  it("rejects what is wrong in any cluster", async () => {
    expect(await codesIn(policy("slow", `{${NAMED}, policy: {requestTimeout: -5s, faultInjection: {abort: {httpStatus: 4}}}}`))).toEqual([
      "info ClusterNotGiven",
      "error HttpStatusOutOfRange",
      "error DurationOutOfRange",
    ]);
  });

  it("judges references between objects of the input, where it has some of the kind", async () => {
    const to = (name: string) =>
      policy(
        "shift",
        `{destinationSelector: [{kubeServiceMatcher: {}}], policy: {trafficShift: {destinations: [{virtualDestination: {name: ${name}, namespace: shop}}]}}}`,
      );
    expect(await codesIn(to("carts"))).toEqual(["info ClusterNotGiven"]);
    expect(await codesIn(to("carts") + VIRTUAL_DESTINATION)).toEqual(["info ClusterNotGiven", "error TrafficShiftTargetUnknown"]);
    expect(await codesIn(to("cart") + VIRTUAL_DESTINATION + VIRTUAL_MESH)).toEqual(["info ClusterNotGiven"]);
    expect(await codesIn(VIRTUAL_DESTINATION + VIRTUAL_MESH.replace("name: all", "name: some"))).toEqual([
      "info ClusterNotGiven",
      "error VirtualMeshUnknown",
    ]);
  });

  it("takes a Service that users write beside their policies for none", async () => {
    const service = (more: string) =>
      `---\napiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop${more}}\nspec: {ports: [{port: 80}]}\n`;
    const text = policy("slow", `{${NAMED}, policy: {requestTimeout: 5s}}`);
    expect(await codesIn(text + service(""))).toEqual(["info ClusterMissing", "info ClusterNotGiven"]);
    expect(await codesIn(text + service(", clusterName: east"))).toEqual(["error DestinationUnknown"]);
  });

  const folder = `${root}packages/translators/testdata`;
  const goldens = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".in.yaml"));
  it("says nothing that it would not say with the cluster", async () => {
    let count = 0;
    for (const name of goldens) {
      const text = readFileSync(`${folder}/${name}`, "utf8");
      const objects = parseAllDocuments(text).map((document) => document.toJS() as GivenObject | null);
      // Golden pairs with options of the translation are no input of meshctl.
      if (objects.some((object) => object !== null && object.apiVersion === undefined)) continue;
      const users = objects.filter((object) => object !== null && isUsers(object));
      if (users.length === 0) continue;
      const alone = await findingsIn(users.map((object) => `---\n${stringify(object)}`).join(""));
      const said = new Set((await findingsIn(text)).map(keyOf));
      expect(
        alone.filter((one) => one.code !== "ClusterNotGiven" && !said.has(keyOf(one))),
        name,
      ).toEqual([]);
      count += alone.length;
    }
    expect(count).toBeGreaterThan(300);
  });
});

interface GivenObject {
  readonly apiVersion?: string;
  readonly kind: string;
}

function isUsers({ apiVersion, kind: name }: GivenObject): boolean {
  const kind = apiVersion === undefined ? undefined : kindOf(apiVersion, name);
  return kind !== undefined && (hasUserStatus(kind) || kind.kind === Settings.kind);
}

/** Without its targets, of which there are none without a cluster, without their number, and without the service that a host is of. */
function keyOf({ code, message }: Found): string {
  if (code === "HostTaken") return `${code} ${/^.*? spec\.hostname: \S+/.exec(message)?.[0]}`;
  return `${code} ${message.replace(/ \(on (?:Destination|Workload|VirtualDestination) .*$/, "").replace(/(all \d+ services|the 1 service)(?= that it may select)/, "every service")}`;
}

describe("meshctl validate with fields and modes that are not known", () => {
  const MISSPELT = policy("slow", `{${NAMED}, policy: {requestTimout: 5s}}`);
  const OBSERVER = `
apiVersion: multicluster.solo.io/v1alpha1
kind: KubernetesCluster
metadata: {name: east, namespace: gloo-mesh}
spec: {mode: observer}
`;

  it.each([
    ["FieldUnknown", MISSPELT],
    ["ModeUnknown", OBSERVER],
  ])("fails for %s, a warning still, unless --strict=false", async (code, text) => {
    const strict = await run(["-"], text);
    expect(strict).toMatchObject({
      code: 1,
      err: expect.stringContaining("0 errors, 1 warning; fields and modes that are not known fail"),
    });
    expect(strict.out).toContain(`[${code}]`);
    const lax = await run(["-", "--strict=false"], text);
    expect(lax).toMatchObject({ code: 0, err: "1 object read; 0 errors, 1 warning\n", out: strict.out });
    expect((await run(["--strict", "-f", "-"], text)).code).toBe(1);
    expect((await run(["-", "-S", code], text)).code).toBe(0);
  });

  it("refuses another word", async () => {
    expect(await run(["-", "--strict=maybe"], MISSPELT)).toMatchObject({ code: 2, err: expect.stringContaining("true, false") });
  });
});

describe("meshctl validate and its input", () => {
  it("takes files as arguments, after -f, and both", async () => {
    const [policies, one] = [POLICIES, `${root}docs/examples/cluster-1.yaml`];
    const { err } = await run(["-f", policies, one]);
    expect(await run([one, policies])).toMatchObject({ err });
    expect(await run([policies, "-f", one])).toMatchObject({ err });
    expect(await run([])).toMatchObject({ code: 2, err: expect.stringContaining("name files or directories") });
  });

  it("reads files beside a snapshot, in which objects of the same name do not count", async () => {
    const world = ["cluster-1.yaml", "cluster-2.yaml"].flatMap((name) => ["--snapshot", `${root}docs/examples/${name}`]);
    expect(await run([POLICIES, ...world])).toMatchObject({ code: 0, out: "" });
    const wrong = policy("reviews-shift", "{policy: {requestTimeout: -5s}}").replace("namespace: shop", "namespace: bookinfo");
    const { code, out } = await run(["-", ...world, "--snapshot", POLICIES], wrong);
    expect(code).toBe(1);
    expect(out).toContain("duplicate TrafficPolicy bookinfo/reviews-shift: using standard input:2, ignoring");
  });
});
