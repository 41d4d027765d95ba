import { abortedAfter, type Clock, messageOf } from "@isthmus/core";
import { type FleetTraffic, fleetTraffic } from "./fleetTraffic.ts";
import { parseTrafficAnswer } from "./trafficAnswer.ts";

export interface TrafficRoundsOptions {
  /** The clusters whose agents can be asked here. */
  readonly clusters: () => readonly string[];
  /** Sends the question, JSON, to the agent of a cluster. Rejects when it has no answer. */
  readonly ask: (cluster: string, body: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
  /** Between two rounds, in milliseconds. Default: 15 s. */
  readonly pauseMs?: number;
  readonly clock: Clock;
}

/** What agents have counted, by their answers. */
export interface TrafficRounds {
  readonly traffic: FleetTraffic;
  /** When each agent answered last, in milliseconds since 1970; of one that did not answer what it was asked last, nothing. */
  readonly answered: ReadonlyMap<string, number>;
  /** Why nothing is known of a cluster, and what to do; undefined: it is known, or was not asked yet. */
  problemOf(cluster: string): string | undefined;
  readonly ended: Promise<void>;
}

/**
 * Asks the agent of each cluster, round by round, for what it has counted since, until `signal` is aborted. Agents send when they are asked, so
 * that a server takes no more than it has time for. What cannot be used of an answer is that cluster's problem alone.
 */
export function startTrafficRounds(options: TrafficRoundsOptions, signal: AbortSignal): TrafficRounds {
  const { clusters, ask, pauseMs = PAUSE_MS, clock } = options;
  const traffic = fleetTraffic();
  const received = new Map<string, { readonly epoch: string; readonly sequence: number }>();
  const problems = new Map<string, string>();
  const answered = new Map<string, number>();

  async function askOne(cluster: string): Promise<void> {
    const body = new TextEncoder().encode(JSON.stringify({ received: received.get(cluster) }));
    try {
      const bytes = await ask(cluster, body, abortedAfter(ANSWER_MS, signal));
      const answer = parseTrafficAnswer(bytes);
      if (answer === undefined) {
        traffic.forget(cluster);
        received.delete(cluster);
        problems.set(cluster, SCRAPES_NOTHING);
        answered.set(cluster, clock.now());
        return;
      }
      traffic.take(cluster, answer, clock.now());
      received.set(cluster, { epoch: answer.epoch, sequence: answer.sequence });
      problems.delete(cluster);
      answered.set(cluster, clock.now());
    } catch (error) {
      answered.delete(cluster);
      problems.set(cluster, messageOf(error));
    }
  }

  async function round(): Promise<void> {
    const names = clusters();
    for (const known of [...traffic.clusters, ...received.keys(), ...problems.keys(), ...answered.keys()]) {
      if (names.includes(known)) continue;
      // Its agent may be connected to another replica, which counts on: two would give the same twice.
      traffic.forget(known);
      received.delete(known);
      problems.delete(known);
      answered.delete(known);
    }
    for (let at = 0; at < names.length && !signal.aborted; at += AT_ONCE) await Promise.all(names.slice(at, at + AT_ONCE).map(askOne));
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await round();
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  return { traffic, answered, problemOf: (cluster) => problems.get(cluster), ended: run() };
}

const SCRAPES_NOTHING = "its agent scrapes no proxies: set agentServices.metrics of the Settings to ENABLED";
const AT_ONCE = 20;
const ANSWER_MS = 10_000;
const PAUSE_MS = 15_000;
