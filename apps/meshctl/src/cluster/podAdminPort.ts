import { request } from "node:http";
import type { Duplex } from "node:stream";
import { messageOf, UsageError } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { boundedText } from "./adminPort.ts";

/** A page of an admin port, over one connection that ends in its pod. */
export interface PodPage {
  readonly pod: string;
  readonly path: string;
}

/**
 * Gets the text of a page. The connection comes from the pod's own loopback interface, where the port is open. Rejects with ClusterError where
 * the connection fails, and with UsageError for what is no answer of an admin port.
 */
export async function readPodPage(connection: Duplex, { pod, path }: PodPage, signal: AbortSignal): Promise<string> {
  const place = `port of Pod ${pod}`;
  try {
    const { status, body } = await exchanged(connection, path, place);
    if (status !== 200) throw new UsageError(`admin ${place}: HTTP status ${status}: ${body.trim().slice(0, LONGEST_REFUSAL)}`);
    return body;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError || error instanceof ClusterError) throw error;
    // What Node's parser says of bytes that are not HTTP.
    throw new UsageError(`admin ${place}: ${messageOf(error)}: is it the admin port?`);
  } finally {
    connection.destroy();
  }
}

function exchanged(connection: Duplex, path: string, place: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ createConnection: () => connection, host: "localhost", path, headers: { connection: "close" } });
    outgoing.once("error", reject);
    outgoing.once("response", (response) => {
      boundedText(response, place).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    outgoing.end();
  });
}

const LONGEST_REFUSAL = 500;
