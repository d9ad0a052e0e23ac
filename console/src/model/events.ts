/** Events as the page keeps them: a tenth of what the API sends. */

import type { EventRow } from "../api/types";
import { type StackAddress, stackIn } from "./addresses";

export interface StackEvent {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  stack: StackAddress;
  name: string;
  physicalId: string;
  status: string;
  reason: string;
  type: string;
  /** Whether it is an event of the stack itself, not of one of its resources. */
  isOfStack: boolean;
}

/** Reads rows of the API; equal addresses and texts are kept once. */
export class EventReader {
  private readonly stacks = new Map<string, StackAddress>();
  private readonly texts = new Map<string, string>();

  constructor(private readonly root: StackAddress) {}

  read(row: EventRow): StackEvent {
    const stack = this.shared(stackIn(row.links, "stack") ?? this.root);
    return {
      id: row.id,
      at: Date.parse(row.event_time),
      stack,
      name: this.text(row.resource_name),
      physicalId: this.text(row.physical_resource_id ?? ""),
      status: this.text(row.resource_status),
      reason: this.text(row.resource_status_reason),
      type: this.text(row.resource_type ?? ""),
      isOfStack: row.physical_resource_id === stack.id && row.resource_name === stack.name,
    };
  }

  private shared(stack: StackAddress): StackAddress {
    const known = this.stacks.get(stack.id);
    if (known) return known;
    this.stacks.set(stack.id, stack);
    return stack;
  }

  private text(text: string): string {
    if (text.length > 200) return text;
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size > 100_000) this.texts.clear();
    this.texts.set(text, text);
    return text;
  }
}
