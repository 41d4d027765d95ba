import http2 from "node:http2";

/**
 * Receive windows of a server, per stream and per connection, in bytes. With HTTP/2's own 64 KB, 10 MB over a line of 50 ms
 * take 15 s; with this a third of a second (measured). The gRPC library has no setting for it on servers.
 */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Runs `bind`, in which the gRPC library makes its HTTP/2 server, with a larger window for that server. Throws when the
 * library did not make one the way we know: an upgrade of it must not undo this silently.
 */
export async function withLargeWindow<T>(bind: () => Promise<T>): Promise<T> {
  const original = http2.createSecureServer;
  let made = 0;
  const enlarged = (options: http2.SecureServerOptions, ...rest: []) => {
    made++;
    const server = original({ ...options, settings: { ...options.settings, initialWindowSize: WINDOW_BYTES } }, ...rest);
    server.on("session", (session) => session.setLocalWindowSize(WINDOW_BYTES));
    return server;
  };
  Object.assign(http2, { createSecureServer: enlarged });
  try {
    const result = await bind();
    if (made === 0)
      throw new Error("the gRPC library no longer makes its server through http2.createSecureServer: its receive window stays at 64 KB");
    return result;
  } finally {
    Object.assign(http2, { createSecureServer: original });
  }
}
