import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** How bad the line is. */
export interface Line {
  /** Milliseconds each way. */
  readonly delayMs: number;
  /** Share of the pieces of data, 0..1, at which the connection is reset instead. */
  readonly resets: number;
}

/** A TCP proxy on the loopback, as a Service in front of several servers: a connection goes to the next one that takes it. */
export interface LossyProxy {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Connections that were reset so far. */
  readonly resets: number;
  /** From now on. */
  line(line: Line): void;
  close(): Promise<void>;
}

/** `addresses` are host:port. `random` gives 0..1: seed it, so that a run can be had again. */
export async function startLossyProxy(addresses: readonly string[], random: () => number): Promise<LossyProxy> {
  let line: Line = { delayMs: 0, resets: 0 };
  let resets = 0;
  let turn = 0;
  const sockets = new Set<Socket>();

  function kept(socket: Socket): Socket {
    sockets.add(socket);
    // Ends of connections are what the proxy is for: both ends see them, and nobody else needs to.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  }

  async function upstream(): Promise<Socket | undefined> {
    for (let tries = 0; tries < addresses.length; tries++) {
      const [host = "", port = ""] = (addresses[turn++ % addresses.length] ?? "").split(":");
      const socket = kept(connect(Number(port), host));
      const isThere = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true));
        socket.once("close", () => resolve(false));
      });
      if (isThere) return socket;
    }
    return undefined;
  }

  function piped(from: Socket, to: Socket): void {
    from.on("data", (data) => {
      if (random() < line.resets) {
        resets++;
        from.resetAndDestroy();
        to.resetAndDestroy();
      } else if (line.delayMs === 0) to.write(data);
      else setTimeout(() => to.writable && to.write(data), line.delayMs);
    });
    from.on("close", () => setTimeout(() => to.destroy(), line.delayMs));
  }

  const server = createServer(async (client) => {
    kept(client).pause();
    const socket = await upstream();
    if (socket === undefined || client.destroyed) {
      client.resetAndDestroy();
      socket?.destroy();
      return;
    }
    piped(client, socket);
    piped(socket, client);
    client.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get resets() {
      return resets;
    },
    line(next) {
      line = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
