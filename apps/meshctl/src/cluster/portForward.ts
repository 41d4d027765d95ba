import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { UsageError } from "@isthmus/core";

export interface PortForwardOptions {
  /** On 127.0.0.1; 0 takes any free port. */
  readonly port: number;
  /** Opens the other end of one connection. */
  readonly dial: (signal: AbortSignal) => Promise<Duplex>;
  /** Is given why the other end of a connection could not be opened, or broke. */
  readonly failed: (error: unknown) => void;
}

/** A port of this machine that leads elsewhere. */
export interface PortForward {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Listens on loopback and forwards each connection, up to a number at a time; one more is closed at once. Rejects with UsageError for a port that is taken. */
export async function startPortForward({ port, dial, failed }: PortForwardOptions): Promise<PortForward> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    void forwarded(socket, dial).catch(failed);
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, port)));
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

// A browser has six to one address, and several may follow the same page.
const MOST_CONNECTIONS = 64;

function listenError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === "EADDRINUSE")
    return new UsageError(`port ${port} on 127.0.0.1 is already in use: set another --port, or 0 for any free one`);
  if (error.code === "EACCES")
    return new UsageError(`port ${port} needs more rights than you have: set a --port from 1024, or 0 for any free one`);
  return error;
}

/** Resolves once either end has closed the connection, or nobody waits for it any more. Rejects with what went wrong at the other end. */
async function forwarded(socket: Socket, dial: PortForwardOptions["dial"]): Promise<void> {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      gone.abort(new Error("the connection was closed"));
      resolve();
    });
  });
  // Its closing follows.
  socket.on("error", () => undefined);
  try {
    const other = await dial(gone.signal);
    const ended = new Promise<void>((resolve, reject) => {
      other.once("error", reject);
      other.once("end", resolve);
      other.once("close", resolve);
    });
    socket.pipe(other, { end: false });
    other.pipe(socket, { end: false });
    try {
      await Promise.race([ended, closed]);
    } finally {
      // Of a stream that is destroyed nothing is reported any more.
      other.on("error", () => undefined);
      other.destroy();
    }
    socket.destroySoon();
  } catch (error) {
    socket.destroy();
    if (!gone.signal.aborted) throw error;
  }
}
