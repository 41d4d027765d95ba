import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisSettings } from "@isthmus/store";
import { type Program, startProgram } from "./childProcess.ts";
import { freePorts } from "./freePorts.ts";

export interface RedisVariant {
  readonly password?: string;
  /** A user of Redis' access control lists, with this password, who may do no more than a server of ours needs. */
  readonly user?: { readonly name: string; readonly password: string };
  /** TLS alone, with certificates made for the occasion. */
  readonly tls?: boolean;
  /** Keep what was written, as the published deployment does. */
  readonly persistent?: boolean;
}

/** A real Redis on the loopback. */
export interface RealRedis {
  readonly settings: RedisSettings;
  /** PEM file of who signed its certificate. */
  readonly caFile: string | undefined;
  /** Runs redis-cli as an administrator, and gives what it prints. */
  cli(...args: string[]): string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Stops it, loses its files, and starts it again. */
  restartEmpty(): Promise<void>;
}

export async function startRedis(command: string, directory: string, variant: RedisVariant = {}): Promise<RealRedis> {
  const { password, user, tls = false, persistent = false } = variant;
  const [port = 0] = await freePorts(1);
  mkdirSync(directory, { recursive: true });
  const files = tls ? certificates(directory) : undefined;
  const config = join(directory, "redis.conf");
  writeFileSync(config, user === undefined ? "" : `user ${user.name} on >${user.password} ~gloo-mesh:* &gloo-mesh:* +@all -@admin\n`);
  const args = [
    config,
    ...["--bind", "127.0.0.1", "--dir", directory, "--save", "", "--appendonly", persistent ? "yes" : "no"],
    ...(password === undefined ? [] : ["--requirepass", password]),
    ...(files === undefined
      ? ["--port", String(port)]
      : [
          ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
          ...["--tls-cert-file", files.certificate, "--tls-key-file", files.key, "--tls-ca-cert-file", files.ca],
        ]),
  ];
  const secure = files === undefined ? [] : ["--tls", "--cacert", files.ca];
  const authenticated = password === undefined ? {} : { REDISCLI_AUTH: password };
  let program: Program | undefined;

  function cli(...words: string[]): string {
    return execFileSync("redis-cli", ["-h", "127.0.0.1", "-p", String(port), ...secure, ...words], {
      encoding: "utf8",
      env: { ...process.env, ...authenticated },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  async function start(): Promise<void> {
    program = startProgram({ name: "redis", command, args, log: join(directory, "redis.log") });
    for (let tries = 0; tries < 100; tries++) {
      try {
        if (cli("ping") === "PONG") return;
      } catch {
        // Not up yet: its log tells why, when it never is.
      }
      await sleep(50);
    }
    throw new Error(`Redis does not start: ${program.output()}`);
  }

  await start();
  return {
    settings: {
      host: "127.0.0.1",
      port,
      ...(user === undefined ? {} : { username: user.name }),
      ...(user === undefined && password === undefined ? {} : { password: user?.password ?? password ?? "" }),
      ...(files === undefined ? {} : { tls: { ca: files.caText, serverName: "localhost" } }),
    },
    caFile: files?.ca,
    cli,
    start,
    stop: async () => program?.stop(),
    kill: async () => program?.kill(),
    async restartEmpty() {
      await program?.kill();
      for (const name of ["appendonlydir", "dump.rdb"]) {
        if (existsSync(join(directory, name))) rmSync(join(directory, name), { recursive: true });
      }
      await start();
    },
  };
}

function certificates(directory: string): {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  readonly caText: string;
} {
  const file = (name: string) => join(directory, name);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=redis-test-ca", "-days", "1");
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    "redis.key",
    "-out",
    "redis.crt",
    "-subj",
    "/CN=localhost",
    "-days",
    "1",
    "-CA",
    "ca.crt",
    "-CAkey",
    "ca.key",
    "-addext",
    "subjectAltName=DNS:localhost",
  );
  return { ca: file("ca.crt"), certificate: file("redis.crt"), key: file("redis.key"), caText: openssl("x509", "-in", "ca.crt") };
}
