import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** One address for several servers, as a Service of type LoadBalancer gives: connections go to whichever is `to`. */
export interface Switchboard {
  readonly address: string;
  /** From now on; open connections stay. */
  to(address: string): void;
  stop(): Promise<void>;
}

export async function startSwitchboard(first: string): Promise<Switchboard> {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const [host = "", port = ""] = target.split(":");
    const far = connect(Number(port), host);
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
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(address) {
      target = address;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
