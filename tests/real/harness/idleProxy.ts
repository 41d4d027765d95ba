import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that ends connections over which nothing has come for a while, as load balancers do. */
export interface IdleProxy {
  readonly address: string;
  /** Connections that it has ended so far. */
  readonly ended: number;
  close(): Promise<void>;
}

/** Listens on an address of the loopback, such as `::1`; `to` is host:port. */
export async function startIdleProxy(host: string, to: string, idleMs: number): Promise<IdleProxy> {
  const [farHost = "", farPort = ""] = to.split(":");
  const sockets = new Set<Socket>();
  let ended = 0;
  const server = createServer((near) => {
    const far = connect(Number(farPort), farHost);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(into);
      from.on("error", () => into.destroy());
      from.on("close", () => {
        sockets.delete(from);
        into.destroy();
      });
    }
    near.setTimeout(idleMs, () => {
      ended++;
      near.destroy();
    });
  }).listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
    get ended() {
      return ended;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
