// The decoder and the dot product under one top, for simulators that are driven from outside.
module mxfp4_unit (
    input  logic [3:0]   code,
    input  logic [7:0]   scale,
    output logic [31:0]  value,
    input  logic [127:0] a_codes,
    input  logic [7:0]   a_scale,
    input  logic [127:0] b_codes,
    input  logic [7:0]   b_scale,
    output logic [31:0]  dot
);
  mxfp4_decode decoder (.code(code), .scale(scale), .value(value));
  mxfp4_block_dot unit (.a_codes(a_codes), .a_scale(a_scale), .b_codes(b_codes), .b_scale(b_scale), .dot(dot));
endmodule
