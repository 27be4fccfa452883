/** One page of a list: `page` counts from 1. */
export interface Page {
  readonly page: number;
  readonly limit: number;
}

export function offsetOf({ page, limit }: Page): number {
  return (page - 1) * limit;
}

/** At least 1, so that an empty list still has a first page (specification 4.3). */
export function pageCount(total: number, limit: number): number {
  return Math.max(1, Math.ceil(total / limit));
}
