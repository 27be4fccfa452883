import { expect, it } from 'vitest';
import { startWith } from './world.ts';

it('4.6 the reply lists every sender ID by name, whatever its status, with the fields of 2.5', async () => {
  const pricePerSms = { korekTelecom: 70, asiaCell: 71.5, zainIraq: 72, others: 90 };
  const service = await startWith({
    senderIds: [
      { senderId: 'Zed', status: 'pending', pricePerSms },
      { senderId: 'Amal', status: 'accepted', pricePerSms },
    ],
  });
  const { status, body } = await service.request('/sender-ids');
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    data: [
      { _id: expect.stringMatching(/^[a-f0-9]{24}$/), senderId: 'Amal', status: 'accepted', pricePerSms },
      { _id: expect.stringMatching(/^[a-f0-9]{24}$/), senderId: 'Zed', status: 'pending', pricePerSms },
    ],
  });
});
