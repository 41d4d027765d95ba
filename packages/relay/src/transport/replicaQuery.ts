import { request } from "node:http";
import { connect, type TLSSocket } from "node:tls";
import { keptText } from "@isthmus/core";
import type { Query } from "../session/queries.ts";
import type { ReplicaKeys } from "./replicaKeys.ts";
import { QUERY_PATH, REPLICA_HEADER, REPLICA_TLS } from "./replicaPort.ts";

export interface ReplicaAddress {
  /** Of the replica: another one at this address has no answer. */
  readonly name: string;
  /** An IP address: no name is looked up. */
  readonly address: string;
  readonly port: number;
}

/**
 * Asks another replica of this agent. The query is sent only to one that has shown the certificate of this agent and proven its key; its answer may have
 * `mostBytes`. Rejects with an Error when there is no such answer until `signal` is aborted.
 */
export async function askReplica(
  { name, address, port }: ReplicaAddress,
  { query, keys, mostBytes }: { readonly query: Query; readonly keys: ReplicaKeys; readonly mostBytes: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const socket = await connected({ name, address, port }, keys, signal);
  const end = () => socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    if (!(await keys.isReplica(socket.getPeerX509Certificate())))
      throw new Error("it does not show the certificate of this agent, or one that has expired");
    return await answerOn(socket, { ...query, name }, mostBytes);
  } finally {
    signal.removeEventListener("abort", end);
    socket.destroy();
  }
}

function connected({ address, port }: ReplicaAddress, { identity }: ReplicaKeys, signal: AbortSignal): Promise<TLSSocket> {
  signal.throwIfAborted();
  if (identity === undefined) throw new Error("this agent has no valid client certificate");
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...REPLICA_TLS,
      host: address,
      port,
      cert: identity.certificate,
      key: identity.key,
      // Its key decides, and nobody who has signed it.
      rejectUnauthorized: false,
    });
    const give = () => {
      socket.destroy();
      reject(new Error("it does not answer in time"));
    };
    signal.addEventListener("abort", give, { once: true });
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("it closed the connection")));
    socket.once("secureConnect", () => {
      signal.removeEventListener("abort", give);
      resolve(socket);
    });
  });
}

function answerOn(socket: TLSSocket, { name, topic, body }: Query & { readonly name: string }, mostBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("it closed the connection before its answer's end: does it have the certificate of this agent?"));
    socket.once("close", closed);
    const sent = request({
      createConnection: () => socket,
      method: "POST",
      path: `${QUERY_PATH}${topic}`,
      headers: { host: "replica", [REPLICA_HEADER]: name, connection: "close", "content-length": body.length },
    });
    sent.on("response", (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > mostBytes) {
          reject(new Error(`its answer has more than ${mostBytes} bytes`));
          socket.destroy();
          return;
        }
        parts.push(part);
      });
      response.on("end", () => {
        const whole = Buffer.concat(parts);
        if (response.statusCode === 200) return resolve(whole);
        reject(new Error(`it answers with status ${response.statusCode ?? 0}: ${keptText(whole.toString("utf8"), MOST_MESSAGE)}`));
      });
      response.on("error", reject);
    });
    sent.on("upgrade", () => socket.destroy());
    sent.on("error", reject);
    sent.end(body);
  });
}

const MOST_MESSAGE = 256;
