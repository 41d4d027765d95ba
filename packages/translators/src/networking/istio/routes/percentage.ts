/** A share of requests as Istio writes it; the API says that an omitted percentage is 100. */
export function shareOf(percentage: number | undefined): { readonly value: number } {
  return { value: percentage ?? 100 };
}
