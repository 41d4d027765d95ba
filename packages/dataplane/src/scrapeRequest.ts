import { request } from "node:http";
import { isIP } from "node:net";
import { abortedAfter } from "@isthmus/core";
import { addressProblem, type FetchAllowance } from "./moduleAddress.ts";
import { failUnanswered } from "./unanswered.ts";

/** Where metrics are read. */
export interface ScrapeAddress {
  /** Of a pod. */
  readonly address: string;
  readonly port: number;
  readonly path: string;
}

/** How much of an answer is taken, and whom it is taken from. */
export interface ScrapeOptions {
  /** Of the whole answer. */
  readonly timeoutMs: number;
  /** Takes each part; false ends the request early. */
  readonly take: (part: Uint8Array) => boolean;
  /** Called before, with the time of the answer by the clock of who gives it, in milliseconds since 1970; undefined: it does not say. */
  readonly dated?: (at: number | undefined) => void;
  readonly allowance?: FetchAllowance;
}

/**
 * Reads metrics in plaintext by one GET: no redirects, no credentials, and no address of this machine or its link, since a pod on the
 * network of its node has any port there. Rejects with an Error when there is no answer in time, or when `signal` is aborted; the promise
 * always ends, whatever a server does, since a round of scrapes waits for it.
 */
export function scrapeOnce({ address, port, path }: ScrapeAddress, options: ScrapeOptions, signal: AbortSignal): Promise<void> {
  const problem = addressProblem(address, options.allowance);
  if (problem !== undefined) return Promise.reject(new Error("the address is not one that pods have"));
  const until = abortedAfter(options.timeoutMs, signal);
  const host = isIP(address) === 6 ? `[${address}]` : address;
  const headers = { accept: "text/plain", host: `${host}:${port}` };
  return new Promise((resolve, reject) => {
    const sent = request({ host: address, port, path, headers, agent: false, signal: until }, (response) => {
      if (response.statusCode !== 200) {
        sent.destroy();
        reject(new Error(`status ${response.statusCode ?? 0}`));
        return;
      }
      const at = Date.parse(response.headers.date ?? "");
      options.dated?.(Number.isNaN(at) ? undefined : at);
      response.on("data", (part: Uint8Array) => {
        if (options.take(part)) return;
        resolve();
        sent.destroy();
      });
      response.on("end", resolve);
      response.on("error", reject);
      response.on("close", () => reject(new Error("the connection closed before the answer's end")));
    });
    failUnanswered(sent, reject);
    sent.end();
  });
}
