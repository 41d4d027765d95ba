import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { createRoot } from "@isthmus/certificates";
import { type WebSocket, WebSocketServer } from "ws";

/** In place of a kubelet, as far as its ports of pods go: the API server connects to it, and it to programs of this machine. */
export interface KubeletPorts {
  /** Where the API server finds it, on the loopback. */
  readonly port: number;
  /** Ports of pods that were asked for, as `namespace/pod:port`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

// Channel and number of the port, as kubelet's own server (k8s.io/kubelet, cri/streaming/portforward/websocket.go) sends them.
const [DATA, PROBLEM] = [0, 1] as const;
const PROTOCOL = "v4.channel.k8s.io";

/** `programs`: the port on this machine for `namespace/pod:port`; what it lacks is refused as a closed port is. */
export async function startKubeletPorts(programs: ReadonlyMap<string, number>): Promise<KubeletPorts> {
  // The API server does not verify kubelets unless it is given their authority.
  const { certificate, key } = await createRoot({ commonName: "kubelet", now: Date.now() });
  const server = createServer({ cert: certificate, key });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false) });
  const asked: string[] = [];
  server.on("upgrade", (request, socket, head) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://kubelet");
    const [, what, namespace, pod] = pathname.split("/");
    const port = Number(searchParams.get("port"));
    if (what !== "portForward") return socket.destroy();
    const place = `${namespace}/${pod}:${port}`;
    asked.push(place);
    sockets.handleUpgrade(request, socket, head, (opened) => forward(opened, port, programs.get(place)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(socket: WebSocket, port: number, here: number | undefined): void {
  const send = (channel: number, bytes: Buffer) => socket.send(Buffer.concat([Buffer.of(channel), bytes]));
  const number = Buffer.alloc(2);
  number.writeUInt16LE(port);
  send(DATA, number);
  send(PROBLEM, number);
  if (here === undefined) {
    send(PROBLEM, Buffer.from(`failed to connect to localhost:${port} inside namespace: connect: connection refused`));
    socket.close();
    return;
  }
  const program = connect(here, "127.0.0.1");
  program.on("data", (chunk) => send(DATA, chunk));
  program.on("error", (error) => send(PROBLEM, Buffer.from(error.message)));
  program.on("close", () => socket.close());
  socket.on("message", (message: Buffer) => {
    if (message[0] === DATA) program.write(message.subarray(1));
  });
  socket.on("close", () => program.destroy());
}
