import type { Socket } from 'node:net';
import type { MinuteLog } from '../../../../application/minute-log.ts';
import { dropConnection } from './drop-connection.ts';
import { HeldBytes } from './held-bytes.ts';

/**
 * The connections whose clients do not read their replies or whose requests wait, and the bytes that the process holds for them.
 * Beyond `bytesMax` one of them is closed: of the address that has most, the one on which nothing has moved for longest.
 */
export function unreadConnections(bytesMax: number, log: MinuteLog): HeldBytes<Socket> {
  return new HeldBytes<Socket>(bytesMax, (socket, network) => {
    log.warn('unread_connection_closed', { network });
    dropConnection(socket);
  });
}
