import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createRoot, issueServerCertificate, type KeyedCertificate } from "@isthmus/certificates";
import { groupOf } from "@isthmus/core";
import { type SimulatedCluster, stateOf } from "../cluster.ts";
import type { SimulatedKind } from "../kinds.ts";
import type { SimulatedState } from "../state.ts";
import { tokensOf, type User } from "./access/users.ts";
import { bootstrapObjects } from "./bootstrap.ts";
import { handle, type Serving } from "./handler.ts";
import { knowledgeOf } from "./knowledge.ts";
import { openApiDocuments } from "./openapi/documents.ts";
import { resourceTables } from "./resourceTable.ts";
import { builtInGroups, coreResources } from "./types/goTypes.ts";

export interface ServeOptions {
  readonly cluster: SimulatedCluster;
  /** Default: a free one. */
  readonly port?: number;
  /** Who signs the server's certificate. Default: an authority of its own. */
  readonly authority?: KeyedCertificate;
  /** Deletes what depends on deleted objects where it is asked to, as the simulator's controllers only delete what has no owner. Default: yes. */
  readonly collects?: boolean;
  /** Default: 60 s. */
  readonly bookmarkMs?: number;
}

/** A simulated cluster's API server on loopback. */
export interface ServedApi {
  readonly url: string;
  /** The certificate of the authority that signed the server's, PEM. */
  readonly ca: string;
  /** Of the administrator. */
  readonly token: string;
  /** Makes a token for another user. */
  addUser(user: User): string;
  close(): Promise<void>;
}

const MOST_WATCHES = 10_000;

/** Serves a simulated cluster by HTTPS on loopback, so that kubectl and clients of Kubernetes can use it. */
export async function serveCluster({
  cluster,
  port = 0,
  authority,

  collects = true,
  bookmarkMs = 60_000,
}: ServeOptions): Promise<ServedApi> {
  const state = stateOf(cluster);
  const now = Date.now();
  const root = authority ?? (await createRoot({ commonName: "simulated cluster", now }));
  const { certificate, key } = await issueServerCertificate(root, { dnsNames: ["localhost"], now });
  const users = new Map<string, User>();
  const addUser = (user: User): string => {
    const token = randomBytes(24).toString("base64url");
    users.set(token, user);
    return token;
  };
  const token = addUser({ name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] });
  const table = resourceTables(state);
  serveAllKinds(state);
  state.knowledge = knowledgeOf(table);
  cluster.load(bootstrapObjects(state));
  const stop = new AbortController();
  // Every watch listens to it.
  setMaxListeners(0, stop.signal);
  const served: Serving = {
    state,
    table,
    documents: openApiDocuments(table),
    tokens: tokensOf(users),
    collects,
    bookmarkMs,
    address: () => `127.0.0.1:${portOf(server)}`,
    signal: stop.signal,
    watches: { left: MOST_WATCHES },
  };
  const server = createServer(
    { cert: certificate, key, maxHeaderSize: 64 * 1024 },
    (request, response) => void handle(served, request, response),
  );
  // Clients keep connections for later requests, and do not like to find them closed.
  server.keepAliveTimeout = 180_000;
  // A connection that breaks, or speaks no HTTP, is nobody's failure.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `https://localhost:${portOf(server)}`,
    ca: root.certificate,
    token,
    addUser,
    async close() {
      stop.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Kinds of Kubernetes that nothing else here knows are kept as they are. */
function serveAllKinds(state: SimulatedState): void {
  const known = new Set([...state.all()].map(({ kindKey }) => kindKey));
  const serve = (kind: SimulatedKind) => {
    const key = `${groupOf(kind.versions[0] ?? "")}/${kind.kind}`;
    if (!known.has(key)) state.serve(kind);
    known.add(key);
  };
  const core = coreResources();
  for (const { name, kind, namespaced, verbs } of core) {
    if (name.includes("/") || !verbs.includes("create") || !verbs.includes("list")) continue;
    serve({
      kind,
      plural: name,
      namespaced,
      versions: ["v1"],
      statusSubresource: core.some((each) => each.name === `${name}/status`),
      generation: GENERATIONS.has(kind),
    });
  }
  for (const { metadata, versions } of builtInGroups()) {
    for (const { version, resources } of versions) {
      for (const { resource, responseKind, scope, verbs, subresources = [] } of resources) {
        if (!verbs.includes("list") || !verbs.includes("create")) continue;
        const statusSubresource = subresources.some(({ subresource }) => subresource === "status");
        const { kind } = responseKind;
        const namespaced = scope === "Namespaced";
        serve({
          kind,
          plural: resource,
          namespaced,
          versions: [`${metadata.name}/${version}`],
          statusSubresource,
          generation: GENERATIONS.has(kind),
        });
      }
    }
  }
}

const GENERATIONS: ReadonlySet<string> = new Set([
  "ReplicationController",
  "FlowSchema",
  "PriorityLevelConfiguration",
  "IngressClass",
  "PriorityClass",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);
