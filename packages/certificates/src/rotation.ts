/**
 * When to renew a certificate: at a random moment after half and before two thirds of its life, so that a fleet that was
 * registered at once does not renew at once. `random` gives 0..1. Source: decisions §5.4.
 */
export function renewalTime(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  random: () => number,
): number {
  return notBefore + (notAfter - notBefore) * (1 / 2 + random() / 6);
}
