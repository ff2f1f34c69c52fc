//! Devices that `lydian.toml` states: regions, and registers from CMSIS-SVD files.

use super::in_all_builds::passes_everywhere;
use crate::common::{Workplace, figures};

/// Two UARTs of one kind, and a timer with an array of channels in a cluster.
const SVD: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<device schemaVersion="1.3">
  <name>TOY</name>
  <version>1.0</version>
  <description>A machine for tests</description>
  <addressUnitBits>8</addressUnitBits>
  <width>32</width>
  <size>32</size>
  <access>read-write</access>
  <resetValue>0</resetValue>
  <peripherals>
    <peripheral>
      <name>UART0</name>
      <baseAddress>0x40001000</baseAddress>
      <addressBlock><offset>0</offset><size>0x20</size><usage>registers</usage></addressBlock>
      <registers>
        <register>
          <name>STATUS</name>
          <addressOffset>0</addressOffset>
          <access>read-only</access>
          <resetValue>0xc0</resetValue>
          <fields>
            <field><name>ERROR</name><bitRange>[3:0]</bitRange></field>
            <field><name>RXNE</name><bitRange>[5:5]</bitRange></field>
            <field><name>TXE</name><bitRange>[7:7]</bitRange></field>
          </fields>
        </register>
        <register>
          <name>DATA</name>
          <addressOffset>4</addressOffset>
          <fields><field><name>BYTE</name><bitRange>[7:0]</bitRange></field></fields>
        </register>
        <register>
          <name>COMMAND</name>
          <addressOffset>8</addressOffset>
          <size>16</size>
          <access>write-only</access>
        </register>
      </registers>
    </peripheral>
    <peripheral derivedFrom="UART0">
      <name>UART1</name>
      <baseAddress>0x40002000</baseAddress>
    </peripheral>
    <peripheral>
      <name>TIMER</name>
      <baseAddress>0x40003000</baseAddress>
      <addressBlock><offset>0</offset><size>0x40</size><usage>registers</usage></addressBlock>
      <registers>
        <cluster>
          <dim>2</dim>
          <dimIncrement>0x10</dimIncrement>
          <name>CH%s</name>
          <addressOffset>0x10</addressOffset>
          <register>
            <name>COUNT</name>
            <addressOffset>4</addressOffset>
            <fields><field><name>VALUE</name><bitRange>[15:0]</bitRange></field></fields>
          </register>
        </cluster>
      </registers>
    </peripheral>
  </peripherals>
</device>
"#;

/// Drivers that name registers by numbers, and access memory outside of what is stated.
const DRIVERS: &str = r#"
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
#define TIMER_CH0_COUNT 7
int receive(void)
{
    uint32_t status = REG(0x40001000);
    if (status & 0xf) return -1;
    if (!(status & 0x20)) return -2;
    return (int)REG(0x40001004);
}
int wide(void)
{
    if (REG(0x40001004) > 0xff) return 1;
    if (REG(0x40001000) & 0x10) return 2;
    if (!(REG(0x40001000) & 0x40)) return 3;
    if (REG(0x40003024) == 0xffff && REG(0x40003014) == TIMER_CH0_COUNT) return 4;
    return 0;
}
void send(int c)
{
    while (!(REG(0x40002000) & 0x80)) { }
    REG(0x40002004) = (uint32_t)c;
    *(volatile uint16_t *)0x40002008 = 1;
}
void wrong(int x)
{
    if (!x) return;
    REG(0x40001000) = 0;
    (void)*(volatile uint16_t *)0x40001008;
    REG(0x40009000) = 1;
}
int sensor(void) { if (REG(0x50000010) == 77) return 1; return 0; }
"#;

const STATED: &str = "[devices]\nsvd = [\"toy.svd\"]\n\n[devices.regions]\nsensor = { start = 0x50000000, length = 0x100 }\n";

fn place() -> Workplace {
    let place = Workplace::with(DRIVERS);
    place.write("toy.svd", SVD);
    place.write("lydian.toml", STATED);
    place
}

#[test]
fn tests_name_registers_and_fields_that_are_stated() {
    let place = place();
    place.done("gen unit.c -c bc -o tests");
    let suite = place.read("tests/tests.c");
    for line in [
        "READS(&UART0_STATUS, 4, 0x41); /* ERROR=0x1 */",
        "READS(&UART0_STATUS, 4, 0x40);",
        "READS(&UART0_DATA, 4, 0x0);",
        "READS(&UART1_STATUS, 4, 0xc0); /* TXE */",
        "CHECK_WRITE(&UART1_COMMAND, 2, 0x1);",
        "READS(&TIMER_CH1_COUNT, 4, 0xffff); /* VALUE=0xffff */",
        // The name has another meaning in the source.
        "READS(0x40003014, 4, 0x7); /* VALUE=0x7 */",
        "READS(0x50000010, 4, 0x4d); /* sensor+0x10 */",
        "#define UART0_STATUS (*(volatile unsigned int *)0x40001000)",
    ] {
        assert!(suite.contains(line), "{line}\n{suite}");
    }
    passes_everywhere(&place, "-std=gnu11");
}

#[test]
fn no_read_has_bits_that_no_field_has() {
    let place = place();
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "receive", "bc"), [4, 4, 0, 0, 0], "{ran}");
    // Each of the first three conditions has one side only.
    assert_eq!(figures(&table, "wide", "bc"), [10, 7, 3, 0, 0], "{ran}");
    let objectives = place.read("tests/objectives.json");
    assert!(objectives.contains("bits of registers that no field has keep their values"));
    // Another file of registers is another set of runs.
    place.write("toy.svd", &SVD.replace("[7:0]", "[8:0]"));
    place.done("gen unit.c -c bc -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "wide", "bc"), [10, 8, 2, 0, 0]);
}

#[test]
fn accesses_that_contradict_what_is_stated_are_reported() {
    let place = place();
    let said = place.done("gen unit.c -c bc -o tests").to_string();
    for text in [
        "registers that can only be read are written",
        "UART0.STATUS, in the test `wrong",
        "registers that can only be written are read",
        "UART0.COMMAND, in the test `wrong",
        "memory is accessed that lies in no device of lydian.toml",
        "0x40009000, in the test `wrong",
    ] {
        assert!(said.contains(text), "{text}\n{said}");
    }
    assert!(!said.contains("0x50000010"), "{said}");
}

#[test]
fn faulty_statements_about_devices_are_refused_with_their_place() {
    let place = place();
    for (text, why) in [
        ("[devices]\nsvd = [\"none.svd\"]\n", "cannot read"),
        ("[devices]\nsvd = [\"unit.c\"]\n", "unit.c is no CMSIS-SVD file"),
        ("[devices]\nsvd = [\"damaged.svd\"]\n", "damaged.svd is no CMSIS-SVD file"),
        ("[devices.regions]\na = { start = 0x50000000 }\n", "needs either a length or an end"),
        ("[devices.regions]\na = { start = 0x50000000, end = 0x40000000 }\n", "is empty"),
        (
            "[devices.regions]\na = { start = 0x20, length = 8 }\n",
            "does not lie between 0x10000 and",
        ),
    ] {
        place.write("damaged.svd", &SVD.replace("<name>DATA</name>", ""));
        place.write("lydian.toml", text);
        place.refused("gen unit.c -c bc -o tests", 2, &[why, "lydian.toml:2:"]);
    }
    let overlapping =
        SVD.replace("<addressOffset>4</addressOffset>", "<addressOffset>2</addressOffset>");
    place.write("toy.svd", &overlapping);
    place.write("lydian.toml", STATED);
    let said = place.done("gen unit.c -c bc -o tests").to_string();
    assert!(said.contains("toy.svd: UART0.STATUS overlaps UART0.DATA"), "{said}");
}
