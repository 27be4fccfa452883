import { startHarness } from '../dist/bootstrap/harness/harness.js';

/**
 * A short tour of the service, inside this process: a database in memory, simulated channels, and a clock that
 * only moves when it is told to. Nothing is listening anywhere but on a free loopback port, and nothing is stored.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LAYLA = '9647701234567';
/** The first channel accepts and stays silent, the next one delivers. */
const SILENT_FIRST = '9990000000010';

/** Every channel rejects it. */
const FAILING = '9990000000006';

// A reader that closed its end, as `| head` does, has read enough.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const barid = await startHarness();
const say = (line) => console.log(line);
const send = async (phoneNumber, more = {}) => {
  const body = { phoneNumber, smsType: 'verification', verificationCode: '123456', ...more };
  const reply = await barid.request('/sms', { body });
  say(`  ${at()}  POST /sms ${phoneNumber} → ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
};
const track = async (smsId) => {
  const { body } = await barid.request(`/sms/track/${smsId}`);
  const flow = body.channelFlow.map(
    ({ channel, tried, success }) => `${channel} ${tried ? (success ? 'yes' : 'no') : 'not tried'}`,
  );
  say(`  ${at()}  track → ${body.status}${body.isFinalStatus ? ', final' : ''}, ${flow.join(', ')}`);
};
const credit = async () => say(`  ${at()}  credit → ${(await barid.request('/info')).body.credit} IQD`);
const at = () => barid.now().toISOString().slice(0, 19);

say('1. A verification code. The service picks the channels: whatsapp, telegram, sms.');
await credit();
const first = await send(LAYLA);
const shown = await barid.inbox.next({ to: LAYLA });
say(`  ${at()}  the handset shows, on ${shown.channel}: ${shown.text}`);
await barid.advance(1_000);
await track(first.smsId);
await credit();

say('\n2. The handset has no whatsapp: the next channel takes over, and it is charged once.');
barid.without(LAYLA, 'whatsapp');
const second = await send(LAYLA, { provider: 'whatsapp-sms' });
await barid.advance(1_000);
await track(second.smsId);
await credit();

say(
  '\n3. A channel that accepts and stays silent is given 30 seconds. The clock is moved instead of waiting.',
);
const third = await send(SILENT_FIRST);
await barid.settle();
await track(third.smsId);
await barid.advance(31_000);
await track(third.smsId);

say('\n4. Five messages in ten minutes to one number, then 429; after the wait it was told, it goes on.');
for (let count = 0; count < 4; count += 1) await send(LAYLA, { provider: 'sms' });
await barid.advance(10 * MINUTE_MS);
await send(LAYLA, { provider: 'sms' });

say('\n5. A whatsapp campaign: its cost is reserved at the start, and charged for what is delivered.');
const offer = await barid.request('/whatsapp/campaigns', {
  body: {
    name: 'Orders',
    templateId: '664def456abc789012345603',
    phoneNumberId: '664def456abc789012345678',
  },
});
const { _id } = offer.body.data;
const recipients = ['9647702000001', '9647702000002', FAILING].map((phoneNumber, index) => ({
  phoneNumber,
  templateParameters: { body: { 1: 'Layla', 2: String(index) }, buttons: { 0: { 1: String(index) } } },
}));
await barid.request(`/whatsapp/campaigns/${_id}/recipients`, { body: { recipients } });
await barid.request(`/whatsapp/campaigns/${_id}/start`, { method: 'POST' });
const campaign = async () => {
  const { data } = (await barid.request(`/whatsapp/campaigns/${_id}`)).body;
  const { status, totalRecipients, deliveredCount, failedCount, reservedAmount, reconciledAmount } = data;
  say(
    `  ${at()}  campaign → ${status}: ${deliveredCount} of ${totalRecipients} delivered, ${failedCount} failed, ${reconciledAmount} of ${reservedAmount} IQD charged`,
  );
};
await campaign();
await barid.advance(MINUTE_MS);
await campaign();
await credit();

say('\n6. A day later nothing is left to do, no hold is open, and every balance equals its ledger.');
await barid.advance(24 * HOUR_MS);
await barid.assertQuiet();
await credit();
await barid.close();
