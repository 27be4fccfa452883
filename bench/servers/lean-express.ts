import { messageRoutes } from '../../src/adapters/http/families/messages/messages.ts';
import { createHttpServer } from '../../src/adapters/http/http-server.ts';
import { AddressRates } from '../../src/application/access/address-rates.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { serve } from '../../test/support/child-process.ts';
import { loadSeed } from '../../test/support/load-seed.ts';
import { portOf } from '../../test/support/port-of.ts';

/** The service's own HTTP stack with authentication, validation and replies, and nothing behind it. */
const project = readSeed(loadSeed()).projects[0]?.project;
if (project === undefined) throw new Error('The seed has a project');

const result = {
  smsId: 'sms-0123456789abcdef01234567',
  remainingCredit: iqd(14_920),
  cost: iqd(80),
  canCover: true,
  paymentType: 'prepaid',
  replayed: false,
} as const;

const { server } = createHttpServer({
  families: [
    // Only POST /sms is measured: the routes have no other use case.
    messageRoutes({
      authenticateProject: { execute: async () => project },
      addressRates: new AddressRates({ clock: { now: () => 0 } }),
      sendMessages: { execute: async () => result },
    } as unknown as Parameters<typeof messageRoutes>[0]),
  ],
  logger: { writesDebug: false, debug() {}, info() {}, warn() {}, error() {} },
  requestIds: () => '0123456789abcdef01234567',
});
server.listen(0, '127.0.0.1', () => serve(portOf(server)));
process.on('SIGTERM', () => process.exit(0));
