import express from 'express';
import { z } from 'zod';
import { serve } from '../../test/support/child-process.ts';
import { portOf } from '../../test/support/port-of.ts';

/** Express 5 as its documentation sets it up: the json middleware, a schema, a response; nothing is stored. */
const body = z.object({
  phoneNumber: z.string().regex(/^[0-9]{10,15}$/),
  smsType: z.literal('verification'),
  verificationCode: z.string().min(1).max(20),
  provider: z.enum(['auto', 'sms', 'whatsapp', 'telegram']).default('auto'),
});

const app = express();
app.use(express.json());
app.post('/sms', (request, response) => {
  const parsed = body.safeParse(request.body);
  if (!parsed.success) {
    response.status(400).json({ error: parsed.error.issues[0]?.message });
    return;
  }
  response.json({
    message: 'SMS task created successfully',
    smsId: 'sms-0123456789abcdef01234567',
    remainingCredit: 14920,
    cost: 80,
    canCover: true,
    paymentType: 'prepaid',
  });
});
const server = app.listen(0, '127.0.0.1', () => serve(portOf(server)));
process.on('SIGTERM', () => process.exit(0));
