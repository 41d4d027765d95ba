import { connect as connectTcp, type Socket } from "node:net";
import { connect } from "node:tls";
import { messageOf } from "@isthmus/core";
import { RelayError } from "../session/relayError.ts";
import { checkServerName } from "./channel.ts";
import { untrustedServer } from "./status.ts";
import { TLS_POLICY } from "./tlsPolicy.ts";

/** A management server as an agent is given it. */
export interface ServerToProbe {
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The name that its certificate must bear. */
  readonly authority: string;
  /** PEM: the roots that its certificate must come from. */
  readonly root: string;
}

/**
 * Connects as an agent does, and sends nothing: TCP, then TLS with the same rules, then HTTP/2 by ALPN. Rejects with RelayError
 * `Unreachable` when nobody answers, `UntrustedServer` when somebody else than the management server does.
 */
export async function probeServer(server: ServerToProbe, timeoutMs: number): Promise<void> {
  const where = `the management server at ${server.host.includes(":") ? `[${server.host}]` : server.host}:${server.port}`;
  const socket = await tcpConnection(server, { where, timeoutMs });
  try {
    await handshake(socket, server, { where, timeoutMs });
  } finally {
    socket.destroy();
  }
}

interface Attempt {
  /** Names the server for people. */
  readonly where: string;
  readonly timeoutMs: number;
}

function tcpConnection({ host, port }: ServerToProbe, { where, timeoutMs }: Attempt): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port });
    const limit = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    socket.once("error", (error) => {
      clearTimeout(limit);
      reject(new RelayError("Unreachable", `cannot reach ${where}: ${causeOf(error)}`, error));
    });
    socket.once("connect", () => {
      clearTimeout(limit);
      resolve(socket);
    });
  });
}

function handshake(socket: Socket, { authority, root }: ServerToProbe, { where, timeoutMs }: Attempt): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const untrusted = untrustedServer(messageOf(error), where);
      reject(untrusted ?? new RelayError("UntrustedServer", `${where} does not complete the TLS handshake: ${causeOf(error)}`, error));
    };
    const limit = setTimeout(() => secure.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    const secure = connect({
      ...TLS_POLICY,
      socket,
      servername: authority,
      ca: root,
      ALPNProtocols: ["h2"],
      checkServerIdentity: checkServerName,
    });
    secure.once("error", fail);
    secure.once("close", () => {
      clearTimeout(limit);
      // Settled already, but where it was closed without a word.
      fail(new Error("the connection was closed"));
    });
    secure.once("secureConnect", () => {
      const protocol = secure.alpnProtocol;
      if (protocol === "h2") resolve();
      else reject(new RelayError("UntrustedServer", `${where} does not offer HTTP/2 (ALPN h2): a proxy on the way must pass TLS through`));
      secure.destroy();
    });
  });
}

/** A host name with several addresses fails once for each of them. */
function causeOf(error: Error & { readonly errors?: readonly Error[] }): string {
  return error.errors?.map(messageOf).join("; ") || messageOf(error);
}
