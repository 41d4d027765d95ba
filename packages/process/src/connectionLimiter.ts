import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface ConnectionLimiterOptions {
  /** Of one address. */
  readonly perAddress: number;
  /** Of all. */
  readonly inAll: number;
}

/**
 * Keeps connections to a server few. One address can have so many, more are ended at once. When there are too many in all, the oldest
 * on which nothing is being answered makes room, so that the one who asks something, such as the kubelet, gets through.
 */
export function limitConnections(server: Server, { perAddress, inAll }: ConnectionLimiterOptions): void {
  /** By `nameOf`, in order of coming, with the number of requests that are being answered. */
  const open = new Map<string, { readonly socket: Socket; readonly answering: number }>();
  const byAddress = new Map<string, number>();

  server.on("connection", (socket: Socket) => {
    const { remoteAddress: address = "" } = socket;
    const count = byAddress.get(address) ?? 0;
    if (count >= perAddress) {
      socket.destroy();
      return;
    }
    if (open.size >= inAll) {
      const [idle] = [...open].find(([, { answering }]) => answering === 0) ?? [];
      if (idle === undefined) {
        socket.destroy();
        return;
      }
      open.get(idle)?.socket.destroy();
      open.delete(idle);
    }
    const name = nameOf(socket);
    open.set(name, { socket, answering: 0 });
    byAddress.set(address, count + 1);
    socket.once("close", () => {
      if (open.get(name)?.socket === socket) open.delete(name);
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    });
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const name = nameOf(socket);
    const answer = (by: number) => {
      const one = open.get(name);
      if (one !== undefined) open.set(name, { ...one, answering: one.answering + by });
    };
    answer(1);
    response.once("close", () => answer(-1));
  });
}

/** One name for a connection and for the TLS that is spoken over it. */
function nameOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
