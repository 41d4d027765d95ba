/** What a regular expression sees. */
export type Sees =
  /** What is ours, or comes from the one who runs the program: a flag, their kubeconfig, a constant. */
  | { readonly trusted: string }
  /**
   * What others write, up to `bound` characters; `worst` makes a text of about so many that takes longest. Where the bound is below
   * `SHORT`, it is the measure; above, the time must grow as the text does.
   */
  | { readonly bound: number; readonly worst: (length: number) => string };

/** An object, and so every text in it (packages/core/src/limits.ts). */
const OBJECT = 1024 * 1024;
/** Headers of a request, by Node's own limit. */
const HEADERS = 16 * 1024;
/** What is kept of an API server's Status (packages/kubernetes/src/statusError.ts). */
const STATUS = 4_096;

const filled = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length));
const ended = (text: string, end: string) => (length: number) => filled(text)(length) + end;
/** Keys of a Service's selector. */
const label = (text: string): Sees => ({ bound: OBJECT, worst: filled(text) });
const flag: Sees = { trusted: "a flag or setting of whoever runs the program" };

/** What is kept of an access log entry (packages/dataplane/src/accessLogs/accessLogFrame.ts). */
const LOG_ENTRY = 16 * 1024;
/** A line of what a proxy exposes (packages/dataplane/src/exposition.ts). */
const METRIC_LINE = 16 * 1024;
/** What Vault may answer (packages/plane/src/agent/trust/vaultAuthority.ts). */
const VAULT_ANSWER = 256_000;
/** What is read of an answer of Redis (packages/store/src/redisCapacity.ts); its errors are shorter. */
const REDIS_ANSWER = 16 * 1024;

/** Every regular expression of packages and apps, by file, as it stands there. What is new is refused until it is judged here. */
export const REGULAR_EXPRESSIONS: Readonly<Record<string, Readonly<Record<string, Sees>>>> = {
  "apps/agent/src/config.ts": { "/^https?:$/": flag },
  "apps/agent/src/httpClient.ts": {
    "/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|INVALID_CA|INVALID_PURPOSE/": { trusted: "a code of Node's own errors" },
  },
  "apps/meshctl/src/cluster/charts/renderChart.ts": {
    "/^(WARNING|Use --debug|coalesce\\.go)/i": { trusted: "what the user's own Helm prints" },
    "/^Error: (execution error at \\([^)]*\\): )?/": { trusted: "what the user's own Helm prints" },
    "/\\s+/g": { trusted: "what the user's own Helm prints" },
  },
  "apps/meshctl/src/cluster/managementCluster.ts": { "/CERT|LEAF_SIGNATURE/": { trusted: "a code of Node's own errors" } },
  "apps/meshctl/src/commands/accessLogs.ts": { "/^[1-5](\\d\\d|xx)$/": flag },
  "apps/meshctl/src/output/jsonPath/parseTemplate.ts": { "/-?\\d{1,15}/y": flag, "/[+-]?\\d{1,15}(\\.\\d{1,15})?/y": flag },
  "apps/ui/client/access/allowingPolicy.ts": { "/[^a-z0-9]+$/": { bound: 253, worst: ended("-", "a") } },
  "apps/ui/client/model/insights/insightIndex.ts": {
    "/^(?:is|are|has|have|does|do|names|selects|federates|matches|sets|ends|allows|denies) /": { bound: OBJECT, worst: filled("is") },
  },
  "apps/ui/client/model/commands.ts": { "/[\\w.,:/@=-]/": { bound: 1, worst: filled("!") } },
  "apps/ui/client/translation/schemaValidator.ts": {
    'new RegExp(pattern, "u")': { trusted: "the pattern of a schema of ours, which are judged where they are written" },
  },
  "apps/ui/client/model/lines/visibleText.ts": { "/[\\p{Cc}\\p{Cf}\\u2028\\u2029]/gu": { bound: OBJECT, worst: filled("a\u202E") } },
  "apps/ui/client/model/lines/yamlLines.ts": { "/^[A-Za-z_/][\\w./-]*$/": { bound: OBJECT, worst: ended("a", "!") } },
  "packages/api/src/cilium/ciliumPolicyReport.ts": { "/\\s+/g": { bound: OBJECT, worst: filled("a  ") } },
  "packages/api/src/settings/suppressions.ts": {
    "/^[A-Z]{2,3}(?:\\d{4}|\\d{0,3}\\*)$/": { bound: OBJECT, worst: ended("RTE1", "!") },
    "/^\\d{4}-\\d{2}-\\d{2}$/": { bound: OBJECT, worst: filled("2027-01-31") },
  },
  "packages/dataplane/src/accessLogs/accessLog.ts": { "/:\\d+$/": { bound: LOG_ENTRY, worst: ended(":1", "!") } },
  "packages/dataplane/src/accessLogs/accessLogQuery.ts": {
    "/^[1-5](\\d\\d|xx)$/": { bound: HEADERS, worst: filled("5") },
    "/\\/ns\\/([^/]+)\\/sa\\/([^/]+)$/": { bound: LOG_ENTRY, worst: ended("/ns/a/sa/a", "/") },
  },
  "packages/dataplane/src/accessLogs/accessLogStream.ts": {
    "/^\\[|\\]$/g": { trusted: "the address of a connection" },
    "/^::ffff:(?=\\d+\\.)/": { trusted: "the address of a connection" },
  },
  "packages/dataplane/src/exposition.ts": {
    "/[ \\t]/": { bound: METRIC_LINE, worst: filled("1") },
    "/\\\\(.)/gs": { bound: METRIC_LINE, worst: filled("\\") },
  },
  "packages/dataplane/src/wasm/extensionConfigStream.ts": {
    "/[\\p{L}\\p{N}\\p{P}\\p{S} ]/u": { bound: 2, worst: filled("\\n") },
  },
  "packages/core/src/signals/goldenSignals.ts": { "/^[A-Za-z0-9*][A-Za-z0-9._:*-]*$/": { bound: 253, worst: ended("a", "!") } },
  "packages/core/src/text/secretHeaders.ts": {
    "/authori[sz]ation|authenticat|cookie|token|secret|password|passwd|session|credential|(?:^|[-_.])(?:auth|key|apikey|pwd|sid|jwt|csrf|xsrf)(?:$|[-_.])/i":
      { bound: OBJECT, worst: filled("x-auth") },
  },
  "packages/dataplane/src/wasm/imageReference.ts": {
    "/^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\\d{1,5})?$/": { bound: 512, worst: ended("a", "!") },
    "/^[a-z0-9][a-z0-9._-]*$/": { bound: 512, worst: ended("a", "!") },
    "/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/": { bound: 512, worst: ended("a", "!") },
    "/^sha256:[0-9a-f]{64}$/": { bound: OBJECT, worst: (length) => `sha256:${filled("a")(length)}` },
  },
  "packages/dataplane/src/loggingProxy.ts": { "/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/": { bound: 253, worst: ended("a", "!") } },
  "packages/insights/src/insight.ts": {
    "/\\d+$/": { trusted: "a code of an insight, such as RTE1002" },
    "/^[\\w.,:/@=-]+$/": { bound: OBJECT, worst: ended("a", "!") },
  },
  "packages/insights/src/nearMiss.ts": { "/[.[\\]]+/": { bound: OBJECT, worst: filled("a.[") } },
  "packages/insights/src/reported.ts": {
    "/^(?:spec|metadata|status|data)(?:\\.[\\w-]+|\\[\\d+\\])*(?=: )/": {
      bound: OBJECT,
      worst: (length) => `spec${filled(".a[1]")(length)}!`,
    },
  },
  "packages/insights/src/rules/clusters.ts": { "/[.:] (?=To |Narrow )/": { bound: OBJECT, worst: filled(". ") } },
  "packages/insights/src/rules/store.ts": { "/[.:] (?=Give |set )/": { bound: OBJECT, worst: filled(". ") } },
  "packages/insights/src/rules/control.ts": { "/^(?:k8s|any)[:.]/": label("k8s:") },
  "packages/insights/src/rules/federation.ts": {
    "/^v?1\\.(\\d{1,4})(?:\\D|$)/": { bound: OBJECT, worst: ended("1.", "9".repeat(9)) },
  },
  "packages/insights/src/rules/proxies.ts": {
    "/^v?(\\d{1,4}(?:\\.\\d{1,4}){1,2})(?![\\w.])/": { bound: OBJECT, worst: filled("1111.") },
  },
  "packages/insights/src/rules/places.ts": {
    "/^\\*\\.[^.]+\\.svc(?=\\.|$)/": { bound: OBJECT, worst: (length) => `*.${filled("a")(length)}` },
  },
  "packages/insights/src/suppression.ts": {
    "/^([A-Z]{2,3}(?:\\d{4}|\\d{0,3}\\*))(?: until (\\d{4}-\\d{2}-\\d{2}))?: ?(\\S.*)$/": {
      bound: OBJECT,
      worst: (length) => `RTE*: a${filled(" ")(length)}\n`,
    },
    "/[;\\n]/": { bound: OBJECT, worst: filled("a;") },
  },
  "packages/plane/src/server/insights/insightEvent.ts": { "/[\\p{C}\\p{Zl}\\p{Zp}]+/gu": { bound: 2_000, worst: filled("a\u202E") } },
  "packages/plane/src/agent/schemas/openApiDocument.ts": {
    "/^3\\.\\d/": { bound: OBJECT, worst: filled("3.") },
    "/^\\s*\\{/": { bound: 1_000, worst: filled(" ") },
  },
  "packages/plane/src/agent/schemas/schemaRoots.ts": {
    "/^[a-z0-9][a-z0-9.-]{0,252}$/": { bound: OBJECT, worst: ended("a.", "!") },
    "/^[-._a-zA-Z0-9]{1,253}$/": { bound: OBJECT, worst: ended("a-", "!") },
  },
  "packages/plane/src/agent/schemas/schemaTarget.ts": {
    "/^https?:$/": { bound: OBJECT, worst: ended("a", ":") },
    "/^https(-|$)/": { bound: OBJECT, worst: filled("https") },
    "/^\\d{1,3}(?:\\.\\d{1,3}){3}$/": { bound: OBJECT, worst: filled("1.") },
    "/^\\[(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}):[0-9a-f:]*\\]$/": {
      bound: OBJECT,
      worst: (length) => `[2001:${filled(":")(length)}`,
    },
    "/^\\[(?:fd00:ec2|2002):/": { bound: OBJECT, worst: filled("[fd00:") },
  },
  "packages/plane/src/agent/trust/vaultAuthority.ts": {
    "/^https?:$/": { bound: OBJECT, worst: ended("a", ":") },
    "/^\\/?$/": { bound: OBJECT, worst: filled("/a") },
    "/^\\/?(v1\\/)?/": { bound: OBJECT, worst: filled("/v1/") },
    "/\\/$/": { bound: OBJECT, worst: ended("/", "a") },
    "/^[\\w-]+(\\/[\\w-]+)*$/": { bound: OBJECT, worst: ended("a/", "!") },
    "/^[\\x21-\\x7e]{1,8192}$/": { bound: OBJECT, worst: ended("a", " ") },
    "/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g": { bound: VAULT_ANSWER, worst: filled("-----BEGIN CERTIFICATE-----a") },
  },
  "packages/store/src/redis.ts": { "/^NOPERM\\b/": { bound: REDIS_ANSWER, worst: filled("NOPERM_") } },
  "packages/store/src/redisCapacity.ts": {
    "/^([a-z_]+):(.*)$/": { bound: REDIS_ANSWER, worst: ended("a", "!") },
    "/^\\d{1,15}$/": { bound: REDIS_ANSWER, worst: ended("1", "!") },
    "/\\bOOM\\b/": { bound: REDIS_ANSWER, worst: filled("OO") },
  },
  "packages/store/src/storeOptions.ts": { "/^\\[(.*)\\]$/": flag },
  "packages/translators/src/meshes/istio/addressFamilies.ts": {
    "/^\\d{1,3}(\\.\\d{1,3}){3}$/": { bound: OBJECT, worst: ended("1.", "x") },
  },
  "packages/translators/src/meshes/istio/cilium/open.ts": { "/^k8s:/": label("k8s:") },
  "apps/meshctl/src/cluster/apiServerAddress.ts": { "/:\\d+$/": flag, "/^\\[|\\]$/g": flag },
  "apps/meshctl/src/cluster/managedObjects.ts": { "/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/": flag },
  "apps/meshctl/src/plane/certificates/abortRotation.ts": {
    "/^(\\d+), before (\\d+)$/": { bound: OBJECT, worst: ended("1", "!") },
  },
  "apps/meshctl/src/cluster/register/hints.ts": { "/^[\\w@%+=:,./-]+$/": flag },
  "apps/meshctl/src/cluster/register/relayAddress.ts": {
    "/^\\[|\\]$/g": flag,
    "/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i": { bound: 253, worst: ended("a.", "!") },
  },
  "apps/meshctl/src/commands/names.ts": { "/^--(kubeconfig|context|kubecontext)(?:=(.*))?$/": flag, "/^[A-Za-z0-9_./@:+-]+$/": flag },
  "apps/meshctl/src/plane/namesOfKinds.ts": { "/^[a-z0-9][a-z0-9.-]*$/": { bound: 253, worst: ended("a", "!") } },
  "apps/meshctl/src/commands/commandLine/otherWords.ts": { "/^error: unknown command '([a-z-]{1,40})'/": flag },
  "apps/meshctl/src/commands/wait.ts": { "/^condition=([^=]+)(?:=(.+))?$/": flag, "/^jsonpath=(\\{.*\\})(?:=(.+))?$/": flag },
  "apps/meshctl/src/commands/duration.ts": { "/^(\\d{1,9})(s|m|h)$/": flag },
  "apps/meshctl/src/commands/commandRuntime.ts": { "/^(\\d+)(s|m|h)$/": flag },
  "apps/meshctl/src/offline/documents.ts": {
    "/ at position (\\d+)/": { trusted: "a message of JSON.parse, a sentence with a piece of the text" },
  },
  "apps/meshctl/src/offline/findings.ts": {
    "/^(?:spec|metadata|status)(?:\\.\\w+|\\[\\d+\\])*(?=: )/": { bound: OBJECT, worst: (length) => `spec${filled(".a[1]")(length)}!` },
  },
  "apps/meshctl/src/offline/inputFiles.ts": { "/^https?:/": flag, "/[*?[{]/": flag },
  "apps/meshctl/src/offline/markdownText.ts": {
    "/www\\./gi": { bound: OBJECT, worst: filled("ww") },
    "/[\\\\`*_{}[\\]()!|~]/g": { bound: OBJECT, worst: filled("*") },
  },
  "apps/meshctl/src/offline/unfold.ts": {
    "/[.[\\]]/": { bound: OBJECT, worst: filled("a.") },
    "/^\\d+$/": { bound: OBJECT, worst: ended("1", "a") },
  },
  "apps/meshctl/src/offline/yamlText.ts": {
    "/^(?:[A-Za-z_/](?:[\\w./@+()=;-]|[,:](?=[\\w/])|[ ,]+(?=[\\w(]))*|\\d+(?:ms|s|m|h))$/": { bound: OBJECT, worst: ended("a , ,", "!") },
    "/^(?:y|yes|n|no|on|off|true|false|null|e\\d+)$/i": { bound: OBJECT, worst: (length) => `e${filled("1")(length)}!` },
    "/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g": { bound: OBJECT, worst: filled("\u2028a") },
  },
  "apps/meshctl/src/offline/yaml/eventLines.ts": { "/^ *- *$/": { bound: 1_024, worst: ended(" ", "- !") } },
  "apps/meshctl/src/offline/yaml/quickYaml.ts": {
    "/(?:^|\\n) *\\t|(?:^|\\n)[ -]*\\?[ \\t\\r\\n]|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]/": {
      bound: OBJECT,
      worst: filled(" - "),
    },
  },
  "apps/meshctl/src/offline/yaml/splitYaml.ts": { "/^[ \\t\\r]*(?:#|$)/": { bound: OBJECT, worst: ended(" ", "!") } },
  "apps/mgmt-server/src/config.ts": { "/^\\d{1,7}$/": flag },
  "packages/api/src/offline.ts": { "/^[a-z0-9.-]+$/": { bound: 253, worst: ended("a", "!") } },
  "packages/api/src/shared/duration.ts": {
    "new RegExp(DURATION_PATTERN)": { bound: OBJECT, worst: ended("1ms", "!") },
    "/^([0-9]{1,9})(ns|us|ms|s|m|h)$/": { bound: OBJECT, worst: filled("1") },
    "/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g": { bound: OBJECT, worst: filled("1.5ms") },
  },
  "packages/api/src/shared/problem.ts": {
    "/^\\d+$/": { bound: OBJECT, worst: ended("1", "a") },
    "/^[aeiou]/": { trusted: "the name of a type in a schema of ours" },
  },
  "packages/api/src/shared/stringMatch.ts": { "/[\\\\^$.*+?()[\\]{}|]/g": { bound: OBJECT, worst: filled("a.") } },
  "packages/core/src/names.ts": {
    "/[*/.: ]/g": { bound: OBJECT, worst: filled("a.") },
    "/[[\\]\\n\"']/g": { bound: OBJECT, worst: filled("a[") },
    "/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/": { bound: OBJECT, worst: filled("a") },
  },
  "packages/kubernetes/src/apiServer.ts": {
    // Of an answer of at most 1 MiB.
    "/^\\d+$/": { bound: OBJECT, worst: ended("1", "a") },
    "/^\\d+\\+?$/": { bound: OBJECT, worst: ended("1", "a") },
  },
  "packages/kubernetes/src/connection.ts": {
    // Quadratic, where slashes stand before something else: a Secret's server has at most 2,048 characters.
    "/\\/+$/": { bound: 2_048, worst: ended("/", "a") },
    "/^\\[|\\]$/g": { bound: 2_048, worst: filled("]") },
  },
  "packages/kubernetes/src/kubeconfig.ts": { "/\\/+$/": { trusted: "the kubeconfig of whoever runs the program" } },
  "packages/kubernetes/src/statusError.ts": {
    '/conflict(?:s)? with "([^"]+)"/': { bound: STATUS, worst: filled('conflicts with "') },
    '/^admission webhook "[^"]*" denied the request/': { bound: STATUS, worst: (length) => `admission webhook "${filled("a")(length)}` },
    "/failed to create typed patch object|field not declared in schema/": { bound: STATUS, worst: filled("failed to create typed patch") },
    "/(?:^|\\s)(\\.[^\\s:]+): (?:field not declared in schema|expected )/g": { bound: STATUS, worst: filled(" .a: field not") },
    "/^\\./": { bound: STATUS, worst: filled(".") },
  },
  "packages/kubernetes/src/watch.ts": { "/^\\d+$/": { bound: 20, worst: filled("1") } },
  "packages/plane/src/agent/limits.ts": { "/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/": { bound: 253, worst: ended("a", "!") } },
  "packages/plane/src/server/standardMode/storeKey.ts": {
    "/^[A-Za-z0-9+/_-]{1,1366}={0,2}$/": { bound: OBJECT, worst: ended("a", "!") },
  },
  "packages/plane/src/server/trust/leaveAnnotation.ts": {
    "/^(.+) to ([0-9a-f]{64})$/": { bound: 6_450, worst: filled(" to 0") },
    "/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\\/[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/": { bound: 317, worst: ended("a", "-") },
  },
  "packages/plane/src/identity/joinTokens.ts": { "/^[a-z0-9]{12}$/": { bound: OBJECT, worst: filled("a") } },
  "apps/ui/src/labelledNamespaces.ts": {
    "/^((?:[a-z0-9][a-z0-9.-]{0,252}\\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)(?:=([A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?))?$/":
      flag,
  },
  "apps/ui/src/config.ts": { "/^\\[|\\]$/g": flag },
  "packages/console/src/events/hub.ts": { "/^([\\w]{1,64})-(\\d{1,15})$/": { bound: HEADERS, worst: filled("a-1") } },
  "packages/console/src/login/login.ts": {
    "/^[\\x21-\\x7e]+$/": { bound: 32 * 1024, worst: ended("a", " ") },
    "/^\\/(\\/|(login|logout)\\b)/": { bound: 8_192, worst: filled("/login") },
  },
  "packages/console/src/login/loginPage.ts": { "/[&<>\"']/g": { bound: 32 * 1024, worst: filled("<") } },
  "packages/console/src/http/loopback.ts": {
    "/^(\\[::1\\]|[\\w.-]{1,64})(?::\\d{1,5})?$/": { bound: HEADERS, worst: filled("a:1") },
  },
  "packages/console/src/http/staticFiles.ts": {
    "/^\\/(api|assets)(\\/|$)/": { bound: HEADERS, worst: filled("/api") },
    "/[-.][\\w-]{8,64}\\.\\w{1,8}$/": { trusted: "the name of a file of ours" },
  },
  "packages/console/src/http/stream.ts": { "/^\\s*q=0(\\.0*)?\\s*$/": { bound: HEADERS, worst: ended(" ", "q=0.0!") } },
  "packages/process/src/adminAuthorizer.ts": {
    "/^Bearer +(\\S+)$/i": { bound: HEADERS, worst: (length) => `Bearer${filled(" ")(length / 2)}${filled("a")(length / 2)} ` },
    "/^(\\[[^\\]]*\\]|[^:]*)(:\\d+)?$/": { bound: HEADERS, worst: (length) => `[${filled("1")(length)}` },
  },
  "packages/process/src/options.ts": { "/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/": flag },
  "packages/process/src/redacted.ts": {
    "/[ :=]/": { bound: OBJECT, worst: filled("a") },
    "/(password|passwd|passphrase|secret|token|credentials?|api[-_]?key|private[-_]?key|authorization|cookie)$/i": {
      bound: OBJECT,
      worst: ended("password", "!"),
    },
    "/^(--?[\\w.-]+)=/": { bound: OBJECT, worst: filled("-") },
    "/\\b(bearer|basic) [\\w.~+/=-]{8,}/gi": { bound: OBJECT, worst: filled("bearer aaaaaaa ") },
    "/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\\s\\S]*?(?:-----END \\1-----|$)/g": {
      bound: OBJECT,
      worst: (length) => `-----BEGIN ${filled("PRIVATE KEY")(length)}`,
    },
    "/(:\\/\\/[^\\s/:@]*):[^\\s/@]+@/g": { bound: OBJECT, worst: (length) => `://${filled("a:")(length)}` },
    '/("?)(?<![\\w.-])([\\w.-]+)\\1(\\s*[:=]\\s*)("[^"]*"|[^\\s,}]+)/g': { bound: OBJECT, worst: filled("a") },
  },
  "packages/relay/src/session/bounds.ts": { "/^[a-z]([-a-z0-9]*[a-z0-9])?$/": { bound: 63, worst: ended("a", "-") } },
  "packages/relay/src/session/traces.ts": { "/^[0-9a-f]{32}$/": { bound: OBJECT, worst: filled("a") } },
  "packages/relay/src/transport/channel.ts": {
    "/^[^.]+(\\..+)$/": flag,
    "/^(localhost|127\\.[\\d.]+|\\[::1\\]):\\d+$/": flag,
  },
  "packages/relay/src/transport/grpcServer.ts": {
    "/^Bearer /": { bound: HEADERS, worst: filled("Bearer") },
  },
  "packages/relay/src/transport/peer.ts": {
    "/^[0-9a-f]{32}$/": { bound: HEADERS, worst: filled("a") },
    "/:\\d+$/": { trusted: "a socket's own address" },
  },
  // Details of a status travel as a header of HTTP/2.
  "packages/relay/src/transport/status.ts": {
    "/certificate has expired/": { bound: HEADERS, worst: filled("certificate has ") },
    "/certificate is not yet valid/": { bound: HEADERS, worst: filled("certificate is not ") },
    "/unsuitable certificate purpose|unsupported certificate purpose|is not one for servers/": {
      bound: HEADERS,
      worst: filled("unsupported certificate "),
    },
    "/self.signed certificate|unable to verify the first certificate|unable to get (local )?issuer certificate|certificate signature failure/":
      {
        bound: HEADERS,
        worst: filled("unable to get local issuer "),
      },
    "/server certificate is not for (\\S+), but for ([^:]*);/": {
      bound: HEADERS,
      worst: (length) => `server certificate is not for ${filled("a,")(length)}`,
    },
    "/Last error: (?:Error: )?([^\\n]*?)(?:\\. Resolution note:.*)?$/": {
      bound: HEADERS,
      worst: (length) => `Last error: ${filled("a")(length)}\n`,
    },
  },
  "packages/translators/src/discovery/detectors/meshConfigFields.ts": { "/[A-Z]/g": { trusted: "names of fields that we look for" } },
  "packages/translators/src/discovery/detectors/istioShape.ts": {
    "/(^|[/-])proxyv2(-[^/:@]*)?([:@]|$)/": { bound: 512, worst: filled("-proxyv2") },
    "/(^|[/-])pilot(-[^/:@]*)?([:@]|$)/": { bound: 512, worst: filled("-pilot") },
    "/(^|[/-])ztunnel(-[^/:@]*)?([:@]|$)/": { bound: 512, worst: filled("-ztunnel") },
  },
  "packages/translators/src/discovery/detectors/cilium.ts": {
    "/(^|\\/)cilium(-[a-z]+)?(:|@|$)/": { bound: OBJECT, worst: ended("cilium-a", "!") },
    "/^v(?=\\d)/": { bound: OBJECT, worst: filled("v") },
  },
  "packages/translators/src/meshes/istio/cilium/identityLabels.ts": {
    "/^io\\.kubernetes(?!\\.pod\\.namespace)/": label("io.kubernetes"),
    // Of ConfigMap cilium-config, which an agent reports.
    "/\\s+/": { bound: OBJECT, worst: filled("a  ") },
    "/^(?:([a-z0-9]*):)?(!?)(.+)$/": { bound: OBJECT, worst: ended("a", "\n") },
    "/^(?:[A-Za-z0-9_\\-./=]|\\\\\\.)+$/": { bound: OBJECT, worst: ended("\\.", "!") },
    "new RegExp(`^${pattern}`)": label("a"),
    'new RegExp(`^${text.replaceAll(".", "\\\\.")}`)': { trusted: "a constant" },
    "/^(\\d+)\\.(\\d+)/": { bound: OBJECT, worst: filled("1") },
    "/^(?!app\\.kubernetes\\.io\\/).*kubernetes\\.io\\//": label("kubernetes.io"),
    "/k8s\\.io\\//": label("k8s.io"),
    "/^pod-template-(generation|hash)/": label("pod-template-"),
    "/^controller-(revision-hash|uid)/": label("controller-"),
    "/^annotation/": label("annotation"),
    "/^etcd_node/": label("etcd_node"),
  },
  "packages/translators/src/policy/virtualDestinations/virtualDestinationFindings.ts": {
    "/^spec\\.localized\\.failoverDirectives\\[\\d+\\]\\.(?:from|to\\[\\d+\\])\\./": {
      bound: OBJECT,
      worst: (length) => `spec.localized.failoverDirectives[${filled("1")(length)}].x`,
    },
  },
  "packages/translators/src/policy/forms/accessLogRecordForm.ts": {
    "/^[\\u0021-\\u007e]+$/": { bound: 256, worst: ended("a", " ") },
  },
  "packages/translators/src/pipeline/faultReport.ts": { "/\\s+/g": { bound: 1_000, worst: filled("a  ") } },
  "packages/translators/src/policy/hosts/agentAddress.ts": {
    "/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i": { bound: 260, worst: ended("a", "-") },
    "/^([^:]{1,253})(?::(\\d{1,5}))?$/": { bound: 260, worst: ended("a", ":") },
  },
  "packages/translators/src/policy/re2.ts": {
    "/^(?:[dDwWsSbBAzafnrtv]|x[0-9A-Fa-f]{2}|[pP][LMNPSZC]|[!-/:-@[-`{-~])/": { bound: 24, worst: filled("x") },
    "/^\\{(\\d{1,9})(?:,(\\d{0,9}))?\\}/": { bound: 24, worst: (length) => `{${filled("1")(length)}` },
    "/^\\[:\\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\\]/": {
      bound: 24,
      worst: filled("[:"),
    },
    "/^[bBAz]/": { bound: 24, worst: filled("b") },
    "/^-\\\\[dDwWsSpP]/": { bound: 24, worst: filled("-\\") },
    "/^\\[\\^?\\]/": { bound: 24, worst: filled("[") },
  },
  "packages/translators/src/policy/policyFilterName.ts": {
    "/[^a-z0-9]+$/": { bound: 30, worst: ended(".", "a") },
  },
  "packages/translators/src/policy/forms/wasmDeploymentForm.ts": {
    "/^\\/[\\x21-\\x7e]+$/": { bound: 1024, worst: (length) => `/${ended("a", " ")(length)}` },
    "/^[a-zA-Z0-9_.-]+$/": { bound: 256, worst: ended("a", " ") },
    "/^[0-9a-fA-F]{64}$/": { bound: OBJECT, worst: ended("a", " ") },
    "/^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\\d{1,5})?$/": { bound: 512, worst: ended("a", " ") },
    "/[.:]|^localhost$/": { bound: 512, worst: ended("a", " ") },
    "/^[a-z0-9][a-zA-Z0-9._/:@-]*$/": { bound: 512, worst: ended("a", " ") },
  },
  "packages/translators/src/policy/serviceDependencyFindings.ts": {
    "/^spec\\.[^.[]+$/": { bound: OBJECT, worst: (length) => `spec.${filled("a")(length)}.` },
  },
  "packages/translators/src/policy/ineffective.ts": {
    "/^spec\\.cilium\\.allowFrom\\[\\d+\\]\\./": { bound: OBJECT, worst: ended("spec.cilium.allowFrom[", "9".repeat(9)) },
    "/^spec\\.insights\\.suppressions\\[\\d+\\]\\./": { bound: OBJECT, worst: ended("spec.insights.suppressions[", "9".repeat(9)) },
    "/\\.virtualDestination(Matcher|Refs)$/": { bound: OBJECT, worst: ended(".virtualDestination", "!") },
    "/(sourceSelector|destinationSelectors?|httpRequestMatchers|federation\\.selectors)\\[\\d+\\]/": {
      bound: OBJECT,
      worst: (length) => `sourceSelector[${filled("1")(length)}`,
    },
    "/^spec\\.[^.[]+$/": { bound: OBJECT, worst: (length) => `spec.${filled("a")(length)}.` },
  },
  "packages/translators/src/discovery/detectors/appMesh.ts": {
    "/^mesh\\//": { bound: OBJECT, worst: filled("mesh") },
    "/^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$/": { bound: OBJECT, worst: filled("a") },
  },
  "packages/translators/src/discovery/detectors/istioSidecar.ts": {
    '/"revision":"([^"]*)"/': { bound: OBJECT, worst: (length) => `"revision":"${filled("a")(length)}` },
  },
  "packages/translators/src/discovery/image.ts": {
    "new RegExp(\n  `^(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>\\\\w[\\\\w.-]{0,127}))?(?:@(?<algorithm>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):(?<hex>[0-9a-fA-F]{32,}))?$`,\n)":
      { bound: OBJECT, worst: ended("a.a-a/", "!") },
  },
  "packages/translators/src/meshes/istio/access/authorizationPolicies.ts": { "/[{}]/": { bound: OBJECT, worst: filled("a") } },
  "packages/translators/src/policy/limits.ts": {
    "/^[!#$%&'*+\\-.^_`|~0-9A-Za-z]+$/": { bound: OBJECT, worst: ended("a", " ") },
    "/^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*$/": { bound: OBJECT, worst: ended("a", "\u0000") },
    "/%[^%]+%/g": { bound: OBJECT, worst: filled("%a") },
    "/\\(\\?<?[=!]/": { bound: OBJECT, worst: filled("(?<") },
    "/(^|[^\\\\])(\\\\\\\\)*\\\\[1-9]/": { bound: OBJECT, worst: filled("\\") },
    "/\\(\\?P</g": { bound: OBJECT, worst: filled("(?P<") },
    "/\\(\\?[imsU-]+\\)/g": { bound: OBJECT, worst: (length) => `(?${filled("i")(length)}` },
    "/\\(\\?[imsU-]+:/g": { bound: OBJECT, worst: (length) => `(?${filled("i")(length)}` },
    // A user's own, which is read and never run; the text it is made of is its input.
    "new RegExp(translated)": { bound: OBJECT, worst: filled("(?:a|b)*") },
    "new RegExp(`^(?:${DNS_LABEL}(?:\\\\.${DNS_LABEL})*/)?${QUALIFIED}$`)": { bound: OBJECT, worst: ended("a.a-", "!") },
    "new RegExp(`^(?:${QUALIFIED})?$`)": { bound: OBJECT, worst: ended("a", "!") },
    "new RegExp(`^${DNS_LABEL}$`)": { bound: 63, worst: ended("a", "-") },
  },
  "packages/translators/src/meshes/istio/routes/ruleMatches.ts": {
    "/[?#]/": { bound: OBJECT, worst: filled("a") },
    "/^not[A-Z]/": { bound: OBJECT, worst: filled("n") },
  },
  "packages/translators/src/meshes/istio/subsets.ts": {
    "/[^a-z0-9-]/g": { bound: 253, worst: filled(".") },
    // Quadratic, where dashes stand before something else: names have at most 253 characters by then.
    "/^-+|-+$/g": { bound: 253, worst: (length) => `a${filled("-")(length)}a` },
  },
  "packages/translators/src/policy/trustDomain.ts": {
    "/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/": { bound: 63, worst: ended("a", "!") },
  },
  "packages/translators/src/meshes/istio/virtualMesh/endpoints.ts": {
    "/^(?:(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)(?:\\.(?!$)|$)){4}$/": { bound: OBJECT, worst: filled("1.") },
  },
  "packages/translators/src/meshes/osm/requestMatches.ts": { "/^\\*|\\*$/g": { bound: OBJECT, worst: ended("*", "a") } },
  "packages/translators/src/meshes/osm/trafficTargets.ts": { "/^v?0\\.[0-6](\\.|$)/": { bound: OBJECT, worst: filled("0.") } },
};
