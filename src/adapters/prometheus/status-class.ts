const STATUSES_PER_CLASS = 100;

/** The class of a status of HTTP as a label: `2xx`. */
export function statusClass(status: number): string {
  return `${Math.floor(status / STATUSES_PER_CLASS)}xx`;
}
