/** A request as it reaches a pod's proxy. */
export interface Arrival {
  readonly port: number;
  /** Of the peer's certificate, with the scheme; undefined: the caller has none, and sends plain text. */
  readonly principal: string | undefined;
  readonly method: string;
  readonly path: string;
}

/** ASKED: another program decides, which an ext_authz filter asks. */
export type ProxyVerdict = "ALLOWED" | "DENIED" | "ASKED";

/** What of Envoy's listeners is read here; their JSON is protobuf's own. Source: envoyproxy.io, config.listener.v3, config.rbac.v3. */
interface Listener {
  readonly name?: string;
  readonly filterChains?: readonly FilterChain[];
}
interface FilterChain {
  readonly filterChainMatch?: {
    readonly destinationPort?: number;
    readonly transportProtocol?: string;
    readonly applicationProtocols?: readonly string[];
  };
  readonly filters?: readonly Filter[];
  /** Where TLS is terminated. */
  readonly transportSocket?: object;
}
interface Filter {
  readonly name: string;
  readonly typedConfig?: {
    readonly httpFilters?: readonly Filter[];
    readonly rules?: Rules;
    readonly shadowRules?: Rules;
    readonly shadowRulesStatPrefix?: string;
  };
}
interface Rules {
  /** Absent: ALLOW. */
  readonly action?: "ALLOW" | "DENY" | "LOG";
  readonly policies?: Readonly<Record<string, { readonly permissions: readonly Condition[]; readonly principals: readonly Condition[] }>>;
}
type Condition = Readonly<Record<string, unknown>>;
type TextMatcher = {
  readonly exact?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly safeRegex?: { readonly regex: string };
};

/** What the inbound listener of a proxy, as `/debug/config_dump` has it, does with a request. Throws for what this evaluator does not know. */
export function envoyVerdict(dump: unknown, arrival: Arrival): ProxyVerdict {
  const { configs = [] } = dump as { readonly configs?: readonly Listener[] };
  const inbound = configs.find(({ name }) => name === "virtualInbound");
  if (inbound === undefined) throw new Error(`no inbound listener in ${JSON.stringify(dump).slice(0, 200)}`);
  const { chain, isMutual } = chainFor(inbound.filterChains ?? [], arrival);
  // No filter chain matches: the connection is closed.
  if (chain === undefined) return "DENIED";
  const seen = isMutual ? arrival : { ...arrival, principal: undefined };
  const filters = (chain.filters ?? []).flatMap((filter) => [filter, ...(filter.typedConfig?.httpFilters ?? [])]);
  let isAsked = false;
  for (const { name, typedConfig = {} } of filters) {
    if (!name.endsWith(".rbac")) continue;
    const { rules, shadowRules, shadowRulesStatPrefix } = typedConfig;
    if (rules !== undefined && isRefused(rules, seen)) return "DENIED";
    if (shadowRulesStatPrefix === EXT_AUTHZ && shadowRules !== undefined && isMatched(shadowRules, seen)) isAsked = true;
  }
  return isAsked ? "ASKED" : "ALLOWED";
}

// Source: istio.io/istio pilot/pkg/security/authz/model, RBACExtAuthzShadowRulesStatPrefix.
const EXT_AUTHZ = "istio_ext_authz_";

// What a sidecar says that it speaks, and what the listener's inspectors find of HTTP in plain text.
const MUTUAL_PROTOCOLS = ["istio", "istio-peer-exchange", "istio-http/1.1"];
const PLAIN_PROTOCOLS = ["http/1.1"];

/** The chain that Envoy takes: by port, transport and application protocol, each where one names it, else of those that name none. */
function chainFor(chains: readonly FilterChain[], { port, principal }: Arrival) {
  const atPort = narrowest(
    chains,
    ({ destinationPort }) => destinationPort,
    (one) => one === port,
  );
  const over = (transport: string, protocols: readonly string[]) => {
    const ofTransport = narrowest(
      atPort,
      ({ transportProtocol }) => transportProtocol,
      (one) => one === transport,
    );
    // The more special one first: what is HTTP goes to a chain for HTTP where there is one.
    return (
      [...protocols]
        .reverse()
        .reduce<FilterChain | undefined>(
          (found, protocol) =>
            found ?? ofTransport.find(({ filterChainMatch }) => filterChainMatch?.applicationProtocols?.includes(protocol)),
          undefined,
        ) ?? ofTransport.find(({ filterChainMatch }) => filterChainMatch?.applicationProtocols === undefined)
    );
  };
  const mutual = over("tls", MUTUAL_PROTOCOLS);
  // Auto mTLS: a sidecar sends plain text to where nobody terminates its TLS.
  if (principal !== undefined && mutual?.transportSocket !== undefined) return { chain: mutual, isMutual: true };
  return { chain: over("raw_buffer", PLAIN_PROTOCOLS), isMutual: false };
}

function narrowest<T>(
  chains: readonly FilterChain[],
  of: (match: NonNullable<FilterChain["filterChainMatch"]>) => T | undefined,
  isWanted: (value: T) => boolean,
): readonly FilterChain[] {
  const valueIn = ({ filterChainMatch }: FilterChain) => filterChainMatch && of(filterChainMatch);
  const named = chains.filter((chain) => {
    const value = valueIn(chain);
    return value !== undefined && isWanted(value);
  });
  return named.length > 0 ? named : chains.filter((chain) => valueIn(chain) === undefined);
}

function isRefused(rules: Rules, arrival: Arrival): boolean {
  switch (rules.action ?? "ALLOW") {
    case "ALLOW":
      return !isMatched(rules, arrival);
    case "DENY":
      return isMatched(rules, arrival);
    case "LOG":
      return false;
  }
}

function isMatched({ policies = {} }: Rules, arrival: Arrival): boolean {
  return Object.values(policies).some(
    ({ permissions, principals }) =>
      permissions.some((condition) => holds(condition, arrival)) && principals.some((condition) => holds(condition, arrival)),
  );
}

function holds(condition: Condition, arrival: Arrival): boolean {
  const [[member, value] = ["", undefined], ...others] = Object.entries(condition);
  if (others.length > 0) throw new Error(`a condition with several members: ${JSON.stringify(condition)}`);
  switch (member) {
    case "any":
      return value === true;
    case "andRules":
      return (value as { readonly rules: readonly Condition[] }).rules.every((one) => holds(one, arrival));
    case "andIds":
      return (value as { readonly ids: readonly Condition[] }).ids.every((one) => holds(one, arrival));
    case "orRules":
      return (value as { readonly rules: readonly Condition[] }).rules.some((one) => holds(one, arrival));
    case "orIds":
      return (value as { readonly ids: readonly Condition[] }).ids.some((one) => holds(one, arrival));
    case "notRule":
    case "notId":
      return !holds(value as Condition, arrival);
    case "destinationPort":
      return value === arrival.port;
    case "urlPath":
      return isText((value as { readonly path: TextMatcher }).path, arrival.path.split(/[?#]/)[0] ?? "");
    case "header":
      return isHeader(value as Parameters<typeof isHeader>[0], arrival);
    case "authenticated": {
      const { principalName } = value as { readonly principalName?: TextMatcher };
      return arrival.principal !== undefined && (principalName === undefined || isText(principalName, arrival.principal));
    }
    default:
      throw new Error(`a condition that is not known: ${JSON.stringify(condition)}`);
  }
}

function isHeader(
  { name, stringMatch, presentMatch }: { readonly name: string; readonly stringMatch?: TextMatcher; readonly presentMatch?: boolean },
  { method }: Arrival,
): boolean {
  if (name !== ":method") throw new Error(`a header that is not known: ${name}`);
  if (presentMatch !== undefined) return presentMatch;
  return stringMatch !== undefined && isText(stringMatch, method);
}

function isText({ exact, prefix, suffix, safeRegex }: TextMatcher, text: string): boolean {
  if (exact !== undefined) return text === exact;
  if (prefix !== undefined) return text.startsWith(prefix);
  if (suffix !== undefined) return text.endsWith(suffix);
  if (safeRegex !== undefined) return new RegExp(`^(?:${safeRegex.regex})$`).test(text);
  throw new Error("a text matcher that is not known");
}
