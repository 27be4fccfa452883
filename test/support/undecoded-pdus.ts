import smpp from 'smpp';

const { int8, cstring, buffer } = smpp.types;

/** The ids of the PDUs that carry a message. */
const IDS = { submit_sm: 0x0000_0004, deliver_sm: 0x0000_0005 } as const;

/** The package decodes texts and times of this PDU; from now on they stay octets in this process, which is quicker too. */
export function leaveUndecoded(command: keyof typeof IDS): void {
  smpp.addCommand(command, {
    id: IDS[command],
    params: {
      service_type: { type: cstring },
      source_addr_ton: { type: int8 },
      source_addr_npi: { type: int8 },
      source_addr: { type: cstring },
      dest_addr_ton: { type: int8 },
      dest_addr_npi: { type: int8 },
      destination_addr: { type: cstring },
      esm_class: { type: int8 },
      protocol_id: { type: int8 },
      priority_flag: { type: int8 },
      schedule_delivery_time: { type: cstring },
      validity_period: { type: cstring },
      registered_delivery: { type: int8 },
      replace_if_present_flag: { type: int8 },
      data_coding: { type: int8 },
      sm_default_msg_id: { type: int8 },
      short_message: { type: buffer },
    },
  });
}
