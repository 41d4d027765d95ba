import { setMaxListeners } from "node:events";
import type { Cluster } from "@isthmus/plane";
import { clusterRegistrations, type Server, serverRoles, startServer, systemClock } from "@isthmus/plane";
import { createServerIdentity, type ServerIdentity, startGrpcServer } from "@isthmus/relay";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import { PLANE } from "../planeObjects.ts";
import { benchLog } from "./benchLog.ts";
import { FLEET_TOKEN, fleetTokens } from "./fleetToken.ts";

/** Where agents find a server, and what they need to be let in. */
export interface ServerAddress {
  readonly port: number;
  readonly root: string;
  readonly token: string;
}

/** A real management server on loopback. */
export interface ServerUnderTest {
  readonly server: Server;
  readonly address: ServerAddress;
  stop(): Promise<void>;
}

export interface ServerUnderTestOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  /** Of an earlier server, so that agents find this one in its place. */
  readonly identity?: ServerIdentity;
  /** Default: yes. */
  readonly findsInsights?: boolean;
  /** Default: any that is free. */
  readonly port?: number;
}

/** How many insights a server has found. */
export function insightsOf(server: Server): number {
  return server.metrics().reduce((sum, { name, value }) => (name === "gloo_mesh_insights" ? sum + value : sum), 0);
}

/** What tells one management plane from another. */
export function newIdentity(): Promise<ServerIdentity> {
  return createServerIdentity({ now: Date.now() });
}

export async function startServerUnderTest(options: ServerUnderTestOptions): Promise<ServerUnderTest> {
  const { cluster, identity = await newIdentity(), findsInsights = true, port = 0 } = options;
  const life = new AbortController();
  const { signal } = life;
  setMaxListeners(0, signal);
  const shared = { clock: systemClock, random: Math.random, log: benchLog };
  let link: RunningServerLink | undefined;
  const server: Server = startServer(
    {
      ...shared,
      cluster,
      link: (handler, reportFilter) => {
        const remembers = (name: string) => server.store.remembers(name);
        link = startServerLink({ ...shared, serverId: "bench", handler, reportFilter, remembers, tellsFirst: true }, signal);
        return link;
      },
      ...serverRoles(PLANE),
      resumeDeletes: async () => undefined,
      namespace: PLANE,
      translation: { namespace: PLANE, stage: "all" },
      findsInsights,
    },
    signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  const { accept, closed } = link;
  const registrations = clusterRegistrations(cluster, { namespace: PLANE });
  const grpc = await startGrpcServer({
    ...shared,
    host: "127.0.0.1",
    port,
    identity,
    accept,
    registrations,
    token: () => undefined,
    joinTokens: fleetTokens,
  });
  return {
    server,
    address: { port: grpc.port, root: identity.root, token: FLEET_TOKEN },
    async stop() {
      life.abort(new Error("the benchmark is over"));
      await Promise.all([closed, server.ended]);
      await grpc.close();
    },
  };
}
