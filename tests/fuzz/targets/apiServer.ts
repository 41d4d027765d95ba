import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { managementKinds, Settings } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { type Cluster, ClusterError, systemClock } from "@isthmus/plane";
import type { Random } from "../../faults/random.ts";
import { objectTextOf } from "../drawing/fleetObjects.ts";
import { hostileValue } from "../drawing/hostile.ts";
import { mutatedBytes } from "../drawing/mutated.ts";
import type { Target } from "../target.ts";

const KINDS = managementKinds();
const WATCH = "watch";
const LIST = "list";

/** The first line says what is asked for, the rest is the answer's body. */
function inputOf(verb: string, kind: Kind, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${verb} ${KINDS.indexOf(kind)}\n`), body]);
}

function listBody(kind: Kind, random: Random): Buffer {
  const items = Array.from({ length: random.int(6) }, () => objectTextOf(kind, random, ""));
  const content = random.int(20) === 0 ? hostileValue(random) : `[${items.join(",")}]`;
  const metadata = random.int(20) === 0 ? hostileValue(random) : '{"resourceVersion":"7"}';
  const list = `{"apiVersion":"${kind.apiVersion}","kind":"${kind.kind}List","metadata":${metadata},"items":${content}}`;
  return mutatedBytes(Buffer.from(list), random, random.int(8) === 0 ? 2 : 0);
}

const EVENTS = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "", "__proto__"];

function watchBody(kind: Kind, random: Random): Buffer {
  const lines: string[] = [];
  for (let left = 1 + random.int(5); left > 0; left--) {
    const object = random.int(12) === 0 ? hostileValue(random) : objectTextOf(kind, random, "");
    const versioned = object.replace('"metadata":{', '"metadata":{"resourceVersion":"9",');
    lines.push(`{"type":"${random.pick(EVENTS)}","object":${versioned}}`);
  }
  return mutatedBytes(Buffer.from(`${lines.join("\n")}\n`), random, random.int(8) === 0 ? 2 : 0);
}

/** What an API server answers, the one who has written into it. */
export const apiServer: Target = {
  name: "api-server",
  about: "lists and watches of an API server, over HTTP: objects of the management cluster and what is around them",
  draw(random) {
    const kind = random.pick(KINDS);
    // A watch takes a connection of its own, of which a machine has only so many in a minute.
    return random.int(8) === 0 ? inputOf(WATCH, kind, watchBody(kind, random)) : inputOf(LIST, kind, listBody(kind, random));
  },
  async start() {
    let body: Buffer = Buffer.alloc(0);
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      if (!answersDiscovery(pathname, response)) response.writeHead(200, { "content-type": "application/json" }).end(body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const cluster = kubernetesCluster({
      name: "",
      kubeconfig: loadKubeconfig({ text: kubeconfigFor(port) }),
      clock: systemClock,
      random: () => 0,
    });
    body = Buffer.from('{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"b"}}]}');
    if ((await cluster.list(Settings)).items.length !== 1) throw new Error("a list of one good object is not read as such");
    return {
      async take(input) {
        const end = input.indexOf("\n");
        const [verb = "", index = ""] = input.subarray(0, end).toString().split(" ");
        const kind = KINDS[Number(index)];
        if (kind === undefined) return;
        body = input.subarray(end + 1);
        try {
          await (verb === WATCH ? watched(cluster, kind) : cluster.list(kind));
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error;
        }
      },
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    };
  },
};

async function watched(cluster: Cluster, kind: Kind<Resource>): Promise<void> {
  const stop = new AbortController();
  for await (const event of cluster.watch(kind, "1", {}, stop.signal)) if (event.resourceVersion === "") stop.abort();
}

function kubeconfigFor(port: number): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "fuzz",
    clusters: [{ name: "fuzz", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "fuzz", user: { token: "right" } }],
    contexts: [{ name: "fuzz", context: { cluster: "fuzz", user: "fuzz" } }],
  });
}

/** Discovery in the format before aggregation: every kind that a server reads. */
function answersDiscovery(path: string, response: ServerResponse): boolean {
  const groups = [...new Set(KINDS.map(({ apiVersion }) => apiVersion))];
  const answer = (body: unknown) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  const version = (groupVersion: string) => ({ groupVersion, version: groupVersion.split("/").at(-1) });
  if (path === "/api") return answer({ kind: "APIVersions", versions: ["v1"] });
  if (path === "/apis") {
    const named = groups.filter((group) => group.includes("/"));
    return answer({ kind: "APIGroupList", groups: named.map((group) => ({ name: group.split("/")[0], versions: [version(group)] })) });
  }
  const group = groups.find((one) => path === (one.includes("/") ? `/apis/${one}` : `/api/${one}`));
  if (group === undefined) return false;
  const kinds = KINDS.filter(({ apiVersion }) => apiVersion === group);
  return answer({ kind: "APIResourceList", resources: kinds.map(({ plural, kind, namespaced }) => ({ name: plural, kind, namespaced })) });
}
