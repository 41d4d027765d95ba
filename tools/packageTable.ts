/** What one workspace package may import from the others, and where it runs. */
export interface PackageRule {
  /**
   * Workspace packages by short name. `relay` permits every entry point of that package, `relay/session` that one alone.
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
  ports: { imports: ["core", "relay/session"], browser: "all" },
  plane: { imports: ["core", "api", "translators", "insights", "certificates", "ports", "relay/session"], browser: "all" },
  kubernetes: { imports: ["core", "ports"], browser: "none" },
  store: { imports: ["core", "ports", "process"], browser: "none" },
  process: { imports: ["core"], browser: "none" },
  dataplane: { imports: ["core", "relay/http2"], browser: "none" },
  insights: { imports: ["core", "api", "translators"], browser: "all" },
  simulator: {
    imports: ["core", "api", "ports", "plane", "certificates", "relay/session", "relay/inMemory"],
    browser: { except: ["restApi/"] },
  },
  console: { imports: ["core", "certificates", "translators", "insights", "ports", "plane", "process"], browser: { only: ["wire.ts"] } },
  testing: { imports: "any", browser: "none", testsOnly: true },
};

/** What a folder of a package holds, and which of the package's other folders it may import. */
export interface FolderRule {
  /** One sentence, for the README.md of the package. */
  readonly holds: string;
  /** Folders by their keys, or "any". */
  readonly imports: readonly string[] | "any";
}

/**
 * The same law inside a package, from the lowest folder to the highest. Keys are paths below `src`: a folder with all below it that has no key of its own, a file, or "." for the
 * other files of `src` itself. The last part may be `*`: each such folder by itself, none of which imports another. Types count too.
 */
export const folderTable: Readonly<Record<string, Readonly<Record<string, FolderRule>>>> = {
  translators: {
    ".": { holds: "The catalogues of findings, and the label that several folders write.", imports: [] },
    incremental: {
      holds: "Incremental computation, independent of kinds: changes, tables of rows, memoized and shared values.",
      imports: [],
    },
    policy: {
      holds:
        "What users' resources mean, whatever the mesh: selectors, references, precedence, limits of clusters and namespaces, host names, addresses.",
      imports: [".", "incremental"],
    },
    discovery: {
      holds: "From a snapshot to Meshes, Workloads and Destinations; what a mesh looks like, in `detectors/`.",
      imports: [".", "incremental", "policy"],
    },
    meshes: {
      holds: "The interface of a mesh's translator, and what all of them read and write.",
      imports: [".", "incremental", "policy"],
    },
    "meshes/*": { holds: "All that is known of one type of mesh, and of no other.", imports: [".", "incremental", "policy", "meshes"] },
    "meshes/meshTranslators.ts": { holds: "The list of meshes.", imports: ["meshes", "meshes/*"] },
    attachment: {
      holds: "Which policies and VirtualMeshes are in force where, and what each target's translation reads.",
      imports: [".", "incremental", "policy", "meshes", "meshes/meshTranslators.ts"],
    },
    pipeline: {
      holds: "The stages one after the other, from a snapshot to outputs and reports; what becomes of the outputs.",
      imports: [".", "incremental", "policy", "discovery", "meshes", "meshes/meshTranslators.ts", "attachment"],
    },
    effect: {
      holds: "From a translation to what requests meet: where they go, which policy sets each value, who may call whom.",
      imports: ["meshes", "meshes/meshTranslators.ts", "pipeline"],
    },
    statuses: {
      holds: "From a translation, and what was delivered of it, to the statuses of users' resources; what can be read back from them.",
      imports: [".", "incremental", "policy", "discovery", "attachment", "pipeline"],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  core: {
    text: { holds: "Texts of others, bounded and shown: hidden characters, secrets, near names, wildcards.", imports: [] },
    signals: { holds: "Counts and rates of requests, and the metrics of all programs.", imports: [] },
    ".": { holds: "Resources, references, collections, clocks and errors.", imports: ["text"] },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  dataplane: {
    ".": { holds: "What proxies send and count, as text and as numbers.", imports: [] },
    accessLogs: { holds: "Access logs: from the streams of proxies to answers.", imports: ["."] },
    traffic: { holds: "Traffic by what proxies have counted: scraped, summed up, kept by time.", imports: ["."] },
    wasm: { holds: "Filters for proxies: modules, configuration, and who asked for them.", imports: [".", "accessLogs", "traffic"] },
    gen: { holds: "Envoy's messages, generated.", imports: [] },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  insights: {
    "insight.ts": { holds: "What an insight is, and commands that remedy it.", imports: [] },
    catalogue: {
      holds: "What each code means: title, meaning, consequence, remedy and an example. It imports no kind.",
      imports: ["insight.ts"],
    },
    report: {
      holds: "Insights for other programs: JSON and SARIF, as commands print them and the console saves them.",
      imports: ["insight.ts", "catalogue"],
    },
    "rule.ts": { holds: "How a rule is declared: the kinds that it reads, and what it finds.", imports: ["insight.ts", "catalogue"] },
    rules: { holds: "Every rule, by what it is about.", imports: ["insight.ts", "rule.ts"] },
    ".": {
      holds: "The table of rules, what translation has reported, suppression, history, and the engine.",
      imports: ["insight.ts", "catalogue", "rule.ts", "rules"],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  relay: {
    session: { holds: "Both ends of the protocol as pure state machines, and the links that drive them.", imports: [] },
    registration: { holds: "From a token to a client certificate; from a certificate to the name of a cluster.", imports: ["session"] },
    transport: { holds: "gRPC and TLS on sockets, and a transport in memory.", imports: ["session", "registration"] },
    "http2.ts": { holds: "The guarded HTTP/2 server alone, for ports on which another service of gRPC is served.", imports: ["transport"] },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  plane: {
    runtime: { holds: "Queues, pacing, time slices, events and ids that know no kind.", imports: [] },
    informer: { holds: "What a cluster holds, followed by list and watch; which kinds it serves.", imports: [] },
    leader: { holds: "Which replica writes, and how its writes are intercepted and paced.", imports: ["runtime"] },
    apply: { holds: "Objects and statuses written to a cluster: ownership, deletion, drift.", imports: ["runtime", "informer"] },
    snapshots: { holds: "What the server holds of each workload cluster, and since when.", imports: [] },
    identity: {
      holds: "Who may join and under which name: registrations, tokens, Secrets, revocation.",
      imports: ["runtime", "informer"],
    },
    replication: { holds: "What replicas share through the store.", imports: ["runtime", "snapshots"] },
    agent: {
      holds: "The loops of an agent: report upstream, apply downstream.",
      imports: ["runtime", "informer", "leader", "apply", "identity"],
    },
    server: {
      holds: "The loops of a management server: inputs, translation, delivery, statuses.",
      imports: ["runtime", "informer", "leader", "apply", "snapshots", "identity", "replication"],
    },
    "roles.ts": {
      holds: "Which kinds an agent and a server deal with, from the table of `packages/api/src/roles.ts`.",
      imports: ["agent", "server"],
    },
    "installation.ts": {
      holds: "What commands read and write of a plane that is installed: names, Secrets, tokens. Loads little.",
      imports: ["agent", "apply", "identity", "server"],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  meshctl: {
    "io.ts": { holds: "Streams, colors and exit codes.", imports: [] },
    output: { holds: "Text for people: tables, ages, and what of a text may go to a terminal.", imports: [] },
    cluster: { holds: "What commands do in clusters.", imports: [] },
    offline: { holds: "What commands do with files, without a cluster.", imports: ["io.ts", "output"] },
    plane: {
      holds: "What commands read of the management plane, check and print.",
      imports: ["io.ts", "output", "cluster", "offline"],
    },
    commands: { holds: "One file per command: its options and its help.", imports: ["io.ts", "output", "cluster", "offline", "plane"] },
    ".": { holds: "The program: all commands, and its start.", imports: ["io.ts", "cluster", "commands"] },
  },
  api: {
    shared: { holds: "How a kind is defined, validated and documented.", imports: [] },
    networking: { holds: "Kinds in which users ask for routing, access and trust.", imports: ["shared"] },
    settings: { holds: "The Settings of the management plane.", imports: ["shared", "networking"] },
    discovery: { holds: "Kinds in which discovery writes what it found.", imports: ["shared", "networking"] },
    certificates: { holds: "Kinds by which CAs of meshes are requested and reported.", imports: ["shared", "networking"] },
    multicluster: { holds: "The kind that registers a cluster, and what may be written there.", imports: ["shared"] },
    "*": { holds: "Of the kinds of somebody else's API group, the fields that are read or written.", imports: ["shared"] },
    kubernetes: { holds: "Fields of Kubernetes' own kinds, and our kinds as CRDs.", imports: ["shared", "*"] },
    cilium: { holds: "Of Cilium's kinds, the fields that are read or written.", imports: ["shared", "kubernetes"] },
    apiManagement: { holds: "Kinds with the schemas of APIs, and where they are read.", imports: ["shared", "kubernetes"] },
    "roles.ts": {
      holds: "The table of kinds: who watches, sends, writes and publishes each.",
      imports: [
        "shared",
        "networking",
        "settings",
        "discovery",
        "certificates",
        "multicluster",
        "*",
        "kubernetes",
        "cilium",
        "apiManagement",
      ],
    },
    ".": {
      holds: "Which kinds are not supported, and how files are read without a cluster.",
      imports: ["shared", "multicluster", "kubernetes", "roles.ts"],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  certificates: {
    ".": { holds: "Certificates and keys: made, signed, renewed and read. Only `x509.ts` uses the X.509 library.", imports: [] },
    trust: { holds: "How the meshes of a VirtualMesh move from one root to another, step by step.", imports: ["."] },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  simulator: {
    "kinds.ts": { holds: "Which kinds a simulated cluster serves.", imports: [] },
    apply: { holds: "Server-side apply: field managers, field sets, merging.", imports: ["kinds.ts"] },
    ".": { holds: "A cluster in memory: its API, its store, its watches and its faults.", imports: ["kinds.ts", "apply"] },
    controllers: {
      holds: "Controllers as Kubernetes has them, from Deployments to pods, addresses and sidecars.",
      imports: ["kinds.ts", "apply", "."],
    },
    demo: { holds: "The manifests of the demo's clusters, and the policies for them.", imports: [] },
    restApi: {
      holds: "A simulated cluster's API server on loopback, as kubectl and clients of Kubernetes know API servers.",
      imports: ["kinds.ts", "apply", "."],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  console: {
    "wire.ts": { holds: "What browsers are sent.", imports: [] },
    events: {
      holds: "From what is known at two moments to events, once for all browsers; what of an object they may have.",
      imports: ["wire.ts"],
    },
    sources: { holds: "Where the fleet is read from.", imports: ["wire.ts", "events"] },
    login: { holds: "Who somebody is: the page for logging in, sessions.", imports: [] },
    viewers: {
      holds: "What each user may see: rights, and a filtered stream for each.",
      imports: ["wire.ts", "events", "login"],
    },
    http: { holds: "The stream and the files, on a socket.", imports: ["wire.ts", "events", "login", "viewers"] },
    "file.ts": {
      holds: "The console of a saved fleet, for commands: loads neither a server nor a store.",
      imports: ["events", "sources", "http"],
    },
    "index.ts": { holds: "What other packages may use.", imports: "any" },
  },
  playground: {
    traffic: { holds: "Simulated proxies: where requests go by what is in the clusters, what of it is counted and logged.", imports: [] },
    trust: { holds: "Simulated istiods: which roots and certificates proxies have.", imports: [] },
    ".": { holds: "The demo: its clusters, server, agents, console and keys.", imports: ["traffic", "trust"] },
  },
  ui: {
    strings: { holds: "Words of larger pages.", imports: [] },
    "strings.ts": { holds: "Every word that pages show.", imports: ["strings"] },
    data: { holds: "The stream of the server, folded into one Snapshot, as React reads it.", imports: [] },
    model: { holds: "Pure functions from the fleet to what pages show: filters, indexes, provenance.", imports: ["strings.ts", "data"] },
    components: { holds: "What several pages are made of.", imports: ["strings.ts", "data", "model"] },
    summaries: { holds: "What is shown of one object at a glance, by its kind.", imports: ["strings.ts", "data", "model", "components"] },
    topology: { holds: "The graph of services, loaded when it is opened.", imports: ["strings.ts", "data", "model", "components"] },
    translation: {
      holds: "The translators as they run in the browser: what is, and what would be. Loaded by the pages that need it.",
      imports: ["strings.ts", "data", "model"],
    },
    effect: {
      holds: "What requests meet because of an object: where they go, and which policy sets each value; what differs in clusters.",
      imports: ["strings.ts", "data", "model", "components", "summaries", "translation"],
    },
    access: {
      holds: "Who may call whom, and why.",
      imports: ["strings.ts", "data", "model", "components", "summaries", "translation"],
    },
    whatIf: {
      holds: "What would follow from a policy that nobody has written.",
      imports: ["strings.ts", "data", "model", "components", "summaries", "translation", "effect"],
    },
    changes: {
      holds: "What differs between an earlier time and now.",
      imports: ["strings.ts", "data", "model", "components", "translation", "effect"],
    },
    pages: {
      holds: "The pages by their addresses, but for those that are loaded when they are opened.",
      imports: ["strings.ts", "data", "model", "components", "summaries", "effect", "access"],
    },
    ".": { holds: "The start of the page, its router; in `src`, the program that serves it.", imports: "any" },
  },
  testing: {
    clusterContract: { holds: "What a cluster must do whatever stands behind its port, by topic.", imports: [] },
    "soundTranslation.ts": { holds: "A translation in which nothing may throw.", imports: [] },
    oneTenant: {
      holds: "What a user of one namespace may do to others: fleets, what such users create, and what it changes.",
      imports: ["soundTranslation.ts"],
    },
    ".": { holds: "Contracts of ports, generators of inputs, golden files, measures of growth.", imports: ["clusterContract"] },
    "index.ts": { holds: "What tests may use.", imports: "any" },
  },
};

/** Apps with a folder `client`, of which every file must run in a browser; all else of apps are Node programs. */
export const browserApps: readonly string[] = ["ui"];

/** Packages from npm that few places hide from all others, so that they can be replaced there: paths by prefix. */
export const soleImporters: Readonly<Record<string, string | readonly string[]>> = {
  "@kubernetes/client-node": "packages/kubernetes/src/",
  "@grpc/grpc-js": ["packages/relay/src/", "packages/dataplane/src/"],
  "@grpc/reflection": "packages/relay/src/",
  "grpc-health-check": "packages/relay/src/",
  "@peculiar/x509": "packages/certificates/src/x509.ts",
  "@noble/hashes": "packages/core/src/hashes.ts",
  ioredis: "packages/store/src/redisConnection.ts",
};
