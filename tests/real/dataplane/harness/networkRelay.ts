import { connect, createServer, type Server, type Socket } from "node:net";

// A way out of a cluster's network, through a socket in the file system: one end of it is inside, the other one outside.

/** Outside: listens on a socket, and leads on to an address `host:port`. */
export function relayTo(address: string, socket: string): Server {
  const [host = "", port = ""] = address.split(":");
  return createServer((inside) => join(inside, connect(Number(port), host))).listen(socket);
}

/** Inside: listens on an address, and leads on to the socket. */
export function relayFrom(host: string, port: number, socket: string, listening: () => void): Server {
  return createServer((inside) => join(inside, connect(socket))).listen(port, host, listening);
}

function join(inside: Socket, outside: Socket): void {
  for (const [one, other] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    one.pipe(other);
    // The end of one is the end of the other.
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}
