/** A key of etcd, without its prefix, and what it holds. */
export interface StoredValue {
  readonly key: string;
  /** Base64: most are protobuf. */
  readonly value: string;
}

/** What turns one state of keys into another. */
export interface KeyChanges {
  readonly put: readonly StoredValue[];
  readonly remove: readonly string[];
}

/** The keys below a prefix. */
export interface EtcdKeys {
  /** Key → the revision of its last change. */
  revisions(): Promise<ReadonlyMap<string, string>>;
  /** Key → value and revision. */
  values(): Promise<ReadonlyMap<string, { readonly value: string; readonly revision: string }>>;
  /** Gives the revision of each key that was put. */
  write(changes: KeyChanges): Promise<ReadonlyMap<string, string>>;
}

/**
 * Through etcd's JSON gateway, below `prefix` (`/server-1/`). Throws what etcd answers when it refuses.
 * Source: etcd.io/docs/v3.4/dev-guide/api_grpc_gateway.
 */
export function etcdKeys(url: string, prefix: string): EtcdKeys {
  // The first key that comes after all that begin with the prefix.
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

  async function ask<Answer>(method: string, body: object): Promise<Answer> {
    const response = await fetch(`${url}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  async function range(options: { readonly keys_only?: boolean }): Promise<readonly KeyValue[]> {
    const found: KeyValue[] = [];
    for (let from = prefix; ; ) {
      const { kvs = [], more = false } = await ask<RangeAnswer>("range", {
        key: btoa(from),
        range_end: btoa(end),
        limit: PAGE,
        ...options,
      });
      found.push(...kvs);
      const last = kvs.at(-1);
      if (!more || last === undefined) return found;
      from = `${atob(last.key)}\0`;
    }
  }

  const nameOf = ({ key }: KeyValue): string => atob(key).slice(prefix.length);

  return {
    revisions: async () => new Map((await range({ keys_only: true })).map((found) => [nameOf(found), found.mod_revision])),
    values: async () =>
      new Map((await range({})).map((found) => [nameOf(found), { value: found.value ?? "", revision: found.mod_revision }])),
    async write({ put, remove }) {
      const revisions = new Map<string, string>();
      const operations = [
        ...remove.map((key) => ({ key, size: 0, operation: { request_delete_range: { key: btoa(prefix + key) } } })),
        ...put.map(({ key, value }) => ({ key, size: value.length, operation: { request_put: { key: btoa(prefix + key), value } } })),
      ];
      for (const some of inPortions(operations)) {
        const { header } = await ask<{ readonly header: { readonly revision: string } }>("txn", {
          success: some.map(({ operation }) => operation),
        });
        for (const { key, operation } of some) if ("request_put" in operation) revisions.set(key, header.revision);
      }
      return revisions;
    },
  };
}

interface KeyValue {
  /** Base64. */
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

interface RangeAnswer {
  readonly kvs?: readonly KeyValue[];
  readonly more?: boolean;
}

/** Values of so many keys are below the 4 MB that the gateway takes in one answer. */
const PAGE = 100;
/** Source: etcd's defaults of --max-txn-ops, and of --max-request-bytes with some room for base64 and keys. */
const [MOST_OPERATIONS, MOST_BYTES] = [128, 1_000_000];

function* inPortions<Operation extends { readonly size: number }>(operations: readonly Operation[]): Iterable<readonly Operation[]> {
  let portion: Operation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    if (portion.length === MOST_OPERATIONS || (portion.length > 0 && bytes + operation.size > MOST_BYTES)) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(operation);
    bytes += operation.size;
  }
  if (portion.length > 0) yield portion;
}
