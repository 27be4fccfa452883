import { createHttpServer } from '../../dist/adapters/http/http-server.js';
import { DEMO_SEED } from '../../dist/bootstrap/demo-seed.js';
import { readSeed } from '../../dist/bootstrap/seed-file.js';
import { serve } from '../child.mjs';

/** The service's own HTTP stack with authentication, validation and answers, and nothing behind it. */
const [{ project }] = readSeed(DEMO_SEED).projects;
const receipt = {
  smsId: 'sms-0123456789abcdef01234567',
  remainingCredit: 14_920_000,
  cost: 80_000,
  canCover: true,
  paymentType: 'prepaid',
  replayed: false,
  acceptance: null,
};
const { server } = createHttpServer({
  api: {
    authenticate: { execute: async () => project },
    sendMessages: { execute: async () => receipt },
    trackMessage: {},
    catalog: {},
    health: {},
  },
  logger: { info() {}, warn() {}, error() {} },
  requestIds: () => '0123456789abcdef01234567',
});
server.listen(0, '127.0.0.1', () => serve(server.address().port));
process.on('SIGTERM', () => process.exit(0));
