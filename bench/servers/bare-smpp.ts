import { connect, type Session } from 'smpp';
import { verificationText } from '../../src/domain/messages/verification-text.ts';
import { serve } from '../../test/support/child-process.ts';

/** What SMPP costs with nothing around it: a client of the package `smpp` that keeps the window of each bind full. */
const { SMSC_PORT = '', SMSC_BINDS = '', SMSC_WINDOW = '' } = process.env;
const window = Number(SMSC_WINDOW);

/** The octets of a text in UCS-2. */
const SHORT_MESSAGE = Buffer.from(verificationText('ar', '123456'), 'utf16le').swap16();

const sessions = await Promise.all(Array.from({ length: Number(SMSC_BINDS) }, bound));
/** Called with every receipt. */
let onReceipt = (): void => {};

const handlers = {
  /** Sends that many messages, and resolves with the seconds until each had its response and its receipt. */
  submit: (count: number): Promise<number> =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      let begun = 0;
      let open = 2 * count;
      const ended = (): void => {
        open -= 1;
        if (open === 0) resolve((performance.now() - startedAt) / 1_000);
      };
      onReceipt = ended;
      const next = (session: Session): void => {
        if (begun === count) return;
        begun += 1;
        session.submit_sm(fieldsOf(begun), ({ command_status: status }) => {
          if (status !== 0) throw new Error(`The SMSC responded ${status}`);
          ended();
          next(session);
        });
      };
      for (const session of sessions) for (let each = 0; each < window; each += 1) next(session);
    }),
};
export type BareSmppHandlers = typeof handlers;

serve(0, handlers);
process.on('SIGTERM', () => process.exit());

function fieldsOf(index: number) {
  return {
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: String(9_647_700_000_000 + index),
    validity_period: '000000000030000R',
    registered_delivery: 1,
    data_coding: 8,
    short_message: SHORT_MESSAGE,
  };
}

function bound(): Promise<Session> {
  const session = connect({ host: '127.0.0.1', port: Number(SMSC_PORT) });
  session.socket.setNoDelay(true);
  session.on('deliver_sm', (pdu) => {
    session.send(pdu.response());
    onReceipt();
  });
  session.on('close', () => {
    throw new Error('The SMSC closed the connection');
  });
  return new Promise((resolve) => {
    session.bind_transceiver({ system_id: 'client', password: 'client' }, () => resolve(session));
  });
}
