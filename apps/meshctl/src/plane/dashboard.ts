import type { Duplex } from "node:stream";
import { messageOf } from "@isthmus/core";
import type { ApiServer, PodPort } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import type { ConnectApiServer } from "../cluster/apiServer.ts";
import { answered, type Connect, inManagementCluster, type ManagementTarget, withRemedy } from "../cluster/managementCluster.ts";
import { openAddress } from "../cluster/openAddress.ts";
import { startPortForward } from "../cluster/portForward.ts";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import type { NamedObject } from "./consolePath.ts";
import { consolePod } from "./consolePod.ts";

export interface DashboardOptions {
  readonly place: ManagementTarget;
  /** Whose page is meant; undefined: the first page. */
  readonly object: NamedObject | undefined;
  /** On 127.0.0.1; 0 takes any free port. */
  readonly port: number;
  /** Whether the address is opened in the user's browser. */
  readonly opens: boolean;
}

interface Outside {
  readonly io: Io;
  readonly connect: Connect;
  readonly connectApiServer: ConnectApiServer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Forwards a port of this machine to the console of a management cluster until the signal is aborted. Throws UsageError when it cannot be reached. */
export async function serveDashboard(
  options: DashboardOptions,
  { io, connect, connectApiServer, now }: Outside,
  signal: AbortSignal,
): Promise<void> {
  const { place, object, port, opens } = options;
  const path = object === undefined ? "/" : await pathOf(object, place.namespace);
  const find = () => inManagementCluster(place, connect, (cluster, limit) => consolePod(cluster, place.namespace, limit));
  const dial = consoleDial(await connectApiServer(place), find);
  // A missing permission is said before anybody waits for a page.
  const tried = answered("management cluster", place, async (limit) => (await dial(AbortSignal.any([limit, signal]))).destroy());
  // Not all that it waits for can be given up; who has ended the command waits for none of it.
  await Promise.race([tried, ended(signal)]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (signal.aborted) return;
  let last = { text: "", at: Number.NEGATIVE_INFINITY };
  const failed = (error: unknown): void => {
    const next = { text: plainText(problemOf(error)), at: now() };
    // A browser tries again every few seconds.
    if (next.text === last.text && next.at - last.at < SAID_AGAIN_MS) return;
    last = next;
    io.err(`${io.colors.yellow("warning:")} ${next.text}\n`);
  };
  const forward = await startPortForward({ port, dial, failed });
  try {
    if (signal.aborted) return;
    const address = `http://127.0.0.1:${forward.port}${path}`;
    await io.out(`${address}\n`);
    io.note("The console of the cluster, with your permissions, for all users of this machine; Ctrl-C ends\n");
    if (opens) await openAddress(address).catch((error: unknown) => io.err(`${io.colors.yellow("warning:")} ${messageOf(error)}\n`));
    await ended(signal);
  } finally {
    await forward.close();
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const SAID_AGAIN_MS = 60_000;

async function pathOf(object: NamedObject, namespace: string): Promise<string> {
  // It loads all kinds.
  const { consolePath } = await import("./consolePath.ts");
  return consolePath(object, namespace);
}

function problemOf(error: unknown): string {
  return error instanceof ClusterError ? `management cluster: ${withRemedy(error)}` : messageOf(error);
}

/** Connects to the pod of the console that was found last; looks for another one when that fails, as after an update. */
function consoleDial(api: ApiServer, find: () => Promise<PodPort>): (signal: AbortSignal) => Promise<Duplex> {
  let known: PodPort | undefined;
  let finding: Promise<PodPort> | undefined;

  async function pod(): Promise<PodPort> {
    if (known !== undefined) return known;
    // Connections that come together ask once.
    finding ??= find().finally(() => {
      finding = undefined;
    });
    known = await finding;
    return known;
  }

  async function connected(to: PodPort, signal: AbortSignal): Promise<Duplex> {
    const forget = (): void => {
      if (known === to) known = undefined;
    };
    try {
      const stream = await api.connectToPod(to, signal);
      stream.once("error", forget);
      return stream;
    } catch (error) {
      forget();
      throw error;
    }
  }

  return async (signal) => {
    const before = known;
    try {
      return await connected(await pod(), signal);
    } catch (error) {
      const isReplaced = before !== undefined && error instanceof ClusterError && error.code !== "Forbidden";
      if (!isReplaced || signal.aborted) throw error;
      return connected(await pod(), signal);
    }
  };
}
