/** What one workspace package may import from the others, and where it runs. */
export interface PackageRule {
  /**
   * Workspace packages by short name. `plane` permits every entry point of that package, `plane/ports` that one alone.
   * "any": every package.
   */
  readonly imports: readonly string[] | "any";
  /** The part of `src` that also runs in a browser; paths are relative to `src`. */
  readonly browser: "all" | "none" | { readonly only: readonly string[] } | { readonly except: readonly string[] };
  /** Only tests may import it. */
  readonly testsOnly?: boolean;
}

/**
 * The law of who imports whom. ARCHITECTURE.md explains it; `checkImports.ts` enforces it. Packages that are planned have their
 * rows already; any other row needs an ADR.
 */
export const packageTable: Readonly<Record<string, PackageRule>> = {
  core: { imports: [], browser: "all" },
  api: { imports: ["core"], browser: "all" },
  translators: { imports: ["core", "api"], browser: "all" },
  certificates: { imports: ["core", "api"], browser: "all" },
  relay: { imports: ["core", "certificates"], browser: { only: ["session/", "transport/inMemory.ts"] } },
  plane: { imports: ["core", "api", "translators", "relay/session"], browser: "all" },
  kubernetes: { imports: ["core", "plane/ports"], browser: "none" },
  store: { imports: ["core", "plane/ports"], browser: "none" },
  process: { imports: ["core"], browser: "none" },
  insights: { imports: ["core", "api", "translators"], browser: "all" },
  simulator: {
    imports: ["core", "api", "plane", "certificates", "relay/session", "relay/inMemory"],
    browser: { except: ["restApi/"] },
  },
  testing: { imports: "any", browser: "none", testsOnly: true },
};

/** Apps of which every file must run in a browser; all other apps are Node programs. */
export const browserApps: readonly string[] = ["ui"];

/** Packages from npm that one place hides from all others, so that it can be replaced there: paths by prefix. */
export const soleImporters: Readonly<Record<string, string>> = {
  "@kubernetes/client-node": "packages/kubernetes/src/",
  "@grpc/grpc-js": "packages/relay/src/",
  "@grpc/reflection": "packages/relay/src/",
  "grpc-health-check": "packages/relay/src/",
  "@peculiar/x509": "packages/certificates/src/x509.ts",
  "@noble/hashes": "packages/core/src/md5.ts",
  ioredis: "packages/store/src/redisConnection.ts",
};
