// The rules of Kubernetes for names, in its own words. Source: apimachinery, pkg/util/validation/validation.go.

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const SUBDOMAIN_WORDS = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const LABEL_WORDS = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const LABEL_1035_WORDS = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;
const QUALIFIED_WORDS = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const VALUE_WORDS = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${QUALIFIED})?')`;

function check(value: string, pattern: string, words: string, most: number): readonly string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(value) > most) problems.push(`must be no more than ${most} bytes`);
  // A long text is not matched: the pattern could take long.
  if (value.length > 4 * most || !new RegExp(`^${pattern}$`).test(value)) problems.push(words);
  return problems;
}

/** What is wrong with a name such as most objects have. */
export function subdomainProblems(value: string): readonly string[] {
  return check(value, SUBDOMAIN, SUBDOMAIN_WORDS, 253);
}

/** What is wrong with a name such as namespaces and containers have. */
export function labelProblems(value: string): readonly string[] {
  return check(value, LABEL, LABEL_WORDS, 63);
}

/** What is wrong with a name such as Services have. */
export function label1035Problems(value: string): readonly string[] {
  return check(value, LABEL_1035, LABEL_1035_WORDS, 63);
}

/** What is wrong with a name that may stand in a path. */
export function pathSegmentProblems(value: string): readonly string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((character) => value.includes(character)).map((character) => `may not contain '${character}'`);
}

/** What is wrong with the key of a label, an annotation or a finalizer. */
export function qualifiedNameProblems(key: string): readonly string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [`a qualified name ${QUALIFIED_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const problems: string[] = [];
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, key];
  if (prefix !== undefined) {
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push("name part must be no more than 63 bytes");
  if (name.length > 252 || !new RegExp(`^${QUALIFIED}$`).test(name)) problems.push(`name part ${QUALIFIED_WORDS}`);
  return problems;
}

/** What is wrong with the value of a label. */
export function labelValueProblems(value: string): readonly string[] {
  return check(value, `(${QUALIFIED})?`, VALUE_WORDS, 63);
}

/** What is wrong with the name of a port: IANA's form. */
export function portNameProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (value.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(value)) problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) problems.push("must contain at least one letter (a-z)");
  if (value.includes("--")) problems.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** What is wrong with the key of a ConfigMap or a Secret. */
export function configKeyProblems(key: string): readonly string[] {
  const problems: string[] = [];
  if (key.length > 253) problems.push("must be no more than 253 bytes");
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === ".") problems.push("must not be '.'");
  if (key === ".." || (key.startsWith("..") && key.length > 2))
    problems.push(key === ".." ? "must not be '..'" : "must not start with '..'");
  return problems;
}
