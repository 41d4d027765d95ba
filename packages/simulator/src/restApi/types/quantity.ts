const FORM = /^([+-]?)(\d+|\d+\.\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const NANO = 1_000_000_000n;

/** What a quantity is, in billionths; undefined for a text that is none. Source: apimachinery, pkg/api/resource/quantity.go. */
export function nanosOf(text: string): bigint | undefined {
  const [, sign, digits = "", suffix = ""] = FORM.exec(text) ?? [];
  if (digits === "") return undefined;
  const [whole = "", fraction = ""] = digits.split(".");
  const scaled = BigInt(`${whole}${fraction}` || "0") * factorOf(suffix);
  const value = scaled / 10n ** BigInt(fraction.length);
  return sign === "-" ? -value : value;
}

function factorOf(suffix: string): bigint {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return NANO * 1024n ** BigInt(binary);
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return 1000n ** BigInt(decimal);
  const exponent = Number(suffix.slice(1)) + 9;
  return exponent < 0 ? 0n : 10n ** BigInt(exponent);
}

/** A quantity in the form in which API servers write it: `1000m` is `1`. The text itself where it is none. */
export function canonicalQuantity(text: string): string {
  const nanos = nanosOf(text);
  const suffix = FORM.exec(text)?.[3] ?? "";
  if (nanos === undefined || /^[eE]/.test(suffix)) return text;
  if (nanos === 0n) return "0";
  if (BINARY.indexOf(suffix) > 0 && nanos % NANO === 0n) return scaledBy(nanos / NANO, 1024n, BINARY);
  return scaledBy(nanos, 1000n, DECIMAL);
}

function scaledBy(value: bigint, base: bigint, suffixes: readonly string[]): string {
  let rest = value;
  let position = 0;
  while (position < suffixes.length - 1 && rest % base === 0n) {
    rest /= base;
    position++;
  }
  return `${rest}${suffixes[position]}`;
}
