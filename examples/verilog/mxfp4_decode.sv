// One element of MXFP4: an E2M1 code under an E8M0 scale, as a binary32 word.
//
// Exact: no product is rounded. 4 and 6 under the largest scales overflow to infinity, small products are subnormal
// numbers, scale 255 is NaN.
module mxfp4_decode (
    input  logic [3:0]  code,   // sign, two exponent bits, one mantissa bit
    input  logic [7:0]  scale,  // 2^(scale - 127)
    output logic [31:0] value
);
  logic              fraction;  // the bit behind the leading one
  logic signed [9:0] exponent;  // biased as in binary32; below 1 the number is subnormal

  // Codes 2..7 are (1 + fraction / 2) * 2^(code[2:1] - 1); code 1 is 2^-1.
  assign fraction = (code[2:1] != 2'd0) && code[0];
  assign exponent = $signed({2'b00, scale}) + $signed({8'd0, code[2:1]}) - 10'sd1;

  logic [30:0] subnormal;
`ifdef FAULT_FLUSHED_SUBNORMALS
  assign subnormal = 31'd0;
`else
  // Exponent -1 is code 1 under scale 0 alone: 2^-128.
  assign subnormal = (exponent == 10'sd0) ? {8'd0, 1'b1, fraction, 21'd0} : {8'd0, 2'b01, 21'd0};
`endif

  assign value = (scale == 8'd255)      ? 32'h7FC00000
               : (code[2:0] == 3'd0)    ? {code[3], 31'd0}
               : (exponent >= 10'sd255) ? {code[3], 8'hFF, 23'd0}
               : (exponent >= 10'sd1)   ? {code[3], exponent[7:0], fraction, 22'd0}
               :                          {code[3], subnormal};
endmodule
