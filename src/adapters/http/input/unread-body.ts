import type { IncomingMessage } from 'node:http';
import { UNREAD_BODY_BYTES_KEPT } from '../limits.ts';

/** Whether some of the body has not come. */
export function isArriving(request: IncomingMessage): boolean {
  return !request.complete && announcedBytes(request) > 0;
}

/** Whether reading the rest of the request would cost more than a new connection. */
export function leavesMuchUnread(request: IncomingMessage): boolean {
  return !request.complete && announcedBytes(request) > UNREAD_BODY_BYTES_KEPT;
}

/** How long the headers say that the body is; nobody knows how long a chunked one is. */
function announcedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}
