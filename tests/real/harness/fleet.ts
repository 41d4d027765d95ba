import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, type ApiServerAccess, apiServerAt, type OwnApiServer, startApiServer } from "./apiServer.ts";
import { leaseServers } from "./apiServerPool/lease.ts";
import type { Form } from "./apiServerPool/pooledServer.ts";
import { sizeOf, textFrom } from "./auditLog.ts";
import type { Components } from "./components.ts";
import { startEtcd } from "./etcd.ts";

/** Some clusters that share one etcd, and a temporary directory. */
export interface Fleet<Name extends string, Server extends ApiServer = ApiServer> {
  readonly directory: string;
  readonly servers: Readonly<Record<Name, Server>>;
  /** Gives the API servers back, or stops them, and deletes the directory; with KEEP_REAL_FILES=1 the logs stay. */
  stop(): Promise<void>;
}

export interface FleetOptions<Name extends string = string> {
  /** What the clusters have from the start: Istio's CRDs, or those and the CRDs of our kinds. Default, and of those that are not named: they are bare. */
  readonly crds?: Form | Readonly<Partial<Record<Name, Form>>>;
  /** Whether API servers are started for this suite alone, which may then stop and restart them. Default: they are leased from the run's pool. */
  readonly fresh?: boolean;
}

/** An API server for each name. A suite takes all of its servers at once: two that each held some of what the other lacks would wait for ever. */
export function startFleet<Name extends string>(
  components: Components,
  names: readonly Name[],
  options: FleetOptions<Name> & { readonly fresh: true },
): Promise<Fleet<Name, OwnApiServer>>;
export function startFleet<Name extends string>(
  components: Components,
  names: readonly Name[],
  options?: FleetOptions<Name>,
): Promise<Fleet<Name>>;
export function startFleet<Name extends string>(
  components: Components,
  names: readonly Name[],
  { fresh = false, crds = "bare" }: FleetOptions<Name> = {},
): Promise<Fleet<Name>> {
  if (!fresh)
    return leaseFleet(
      names,
      names.map((name) => (typeof crds === "string" ? crds : (crds[name] ?? "bare"))),
    );
  if (crds !== "bare") throw new TypeError("API servers of a suite's own are bare");
  return startOwnFleet(components, names);
}

async function leaseFleet<Name extends string>(names: readonly Name[], forms: readonly Form[]): Promise<Fleet<Name>> {
  const lease = await leaseServers({ forms });
  const directory = temporaryDirectory();
  const leased = names.map((name, i) => {
    const access = lease.servers[i] as ApiServerAccess;
    const folder = join(directory, name);
    mkdirSync(folder);
    return { name, access, folder, from: { audit: sizeOf(access.auditLog), log: sizeOf(access.log) } };
  });
  const since = Date.now();
  const servers = leased.map(({ name, access, folder, from }) => apiServerAt(access, { name, directory: folder, from: from.audit, since }));
  return {
    directory,
    servers: byName(servers),
    async stop() {
      for (const { access, folder, from } of leased) {
        if (!isKept()) break;
        writeFileSync(join(folder, "audit.log"), textFrom(access.auditLog, from.audit));
        writeFileSync(join(folder, "kube-apiserver.log"), textFrom(access.log, from.log));
      }
      await lease.release();
      removeDirectory(directory);
    },
  };
}

/** With an etcd of its own. */
async function startOwnFleet<Name extends string>(components: Components, names: readonly Name[]): Promise<Fleet<Name, OwnApiServer>> {
  const directory = temporaryDirectory();
  const etcd = await startEtcd(components, directory);
  const started: OwnApiServer[] = [];

  async function stop(): Promise<void> {
    await Promise.all(started.map(({ program }) => program.stop()));
    await etcd.program.stop();
    removeDirectory(directory);
  }

  const starts = names.map(async (name) => {
    started.push(await startApiServer({ components, name, directory, etcdUrl: etcd.url }));
  });
  const failed = (await Promise.allSettled(starts)).find((start) => start.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { directory, servers: byName(started), stop };
}

function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "isthmus-real-"));
}

function removeDirectory(directory: string): void {
  if (!isKept()) rmSync(directory, { recursive: true, force: true });
}

const isKept = (): boolean => process.env["KEEP_REAL_FILES"] === "1";

function byName<Name extends string, Server extends ApiServer>(servers: readonly Server[]): Readonly<Record<Name, Server>> {
  return Object.fromEntries(servers.map((server) => [server.name, server])) as Record<Name, Server>;
}
