import { UsageError } from "@isthmus/core";
import type { Command } from "commander";
import type { TlsFiles } from "./tlsFiles.ts";

/** What the command line says of it. */
export interface AdminTlsFlags {
  readonly adminTlsCert?: string;
  readonly adminTlsKey?: string;
}

/** Adds `--admin-tls-cert` and `--admin-tls-key` to `command` itself; `adminTlsIn` reads them. */
export function addAdminTlsOptions(command: Command): Command {
  return command
    .option(
      "--admin-tls-cert <file>",
      "PEM certificate of the admin port, which then uses TLS and accepts ordinary tokens of the Kubernetes API",
    )
    .option("--admin-tls-key <file>", "PEM private key of the certificate of the admin port");
}

/** Throws UsageError for one without the other. */
export function adminTlsIn({ adminTlsCert: certificate, adminTlsKey: key }: AdminTlsFlags): TlsFiles | undefined {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new UsageError("--admin-tls-cert and --admin-tls-key must be set together");
  return { certificate, key, option: "--admin-tls" };
}
