// Checks the decoder and the dot product, with DPI-C and $readmemh: first against exported vectors, then against the
// reference itself, called block by block. docs/hardware.md shows how to build it.
//
//   +vectors=DIR   what `fp4proof export --format hex --words block` wrote
//
// Each mismatch is printed with its case; the last line counts what was compared.

package reference;
  import "DPI-C" function int fp4proof_profile(input string name);
  import "DPI-C" function string fp4proof_last_error();
  import "DPI-C" function int fp4proof_dequantize_block(input int profile, input byte unsigned codes[16],
      input byte unsigned scales[1], input int unsigned tensor_scale, output int unsigned values[32]);
  import "DPI-C" function int fp4proof_dot(input int profile_a, input byte unsigned a_codes[16],
      input byte unsigned a_scales[1], input int unsigned a_tensor_scale, input int profile_b,
      input byte unsigned b_codes[16], input byte unsigned b_scales[1], input int unsigned b_tensor_scale,
      input int blocks, input string accumulator, output int unsigned dot_word);

  localparam int unsigned ONE = 32'h3F800000;  // the tensor scale of a profile that has none

  function automatic void require(input int status);
    if (status < 0) $fatal(1, "the reference refuses: %s", fp4proof_last_error());
  endfunction
endpackage

// Decodes every element of an exported group of dequantize cases.
module decode_vectors #(
    parameter string GROUP = "1x32",
    parameter int CASES = 1
);
  logic [63:0]   case_id[CASES];
  logic [127:0]  codes  [CASES];
  logic [7:0]    scales [CASES];
  logic [1023:0] values [CASES];
  logic [3:0]    code;
  logic [7:0]    scale;
  logic [31:0]   value;
  mxfp4_decode decoder (.*);

  task automatic read(input string folder);
    string stem;
    stem = {folder, "/dequantize.mxfp4.ocp/", GROUP};
    $readmemh({stem, ".case_id.hex"}, case_id);
    $readmemh({stem, ".codes.hex"}, codes);
    $readmemh({stem, ".scales.hex"}, scales);
    $readmemh({stem, ".values.hex"}, values);
  endtask

  task automatic check(inout int compared, inout int wrong);
    for (int k = 0; k < CASES; k++) begin
      for (int i = 0; i < 32; i++) begin
        code = codes[k][4*i+:4];
        scale = scales[k];
        #1;
        compared++;
        if (value !== values[k][32*i+:32]) begin
          wrong++;
          $display("MISMATCH case %016x, element %0d: code %0d under scale %0d gives %08x, must be %08x", case_id[k], i,
                   code, scale, value, values[k][32*i+:32]);
        end
      end
    end
  endtask
endmodule

// Multiplies every row of a with every row of b in an exported group of gemm cases of one block.
module dot_vectors #(
    parameter string GROUP = "7x7x32-seq512",
    parameter int CASES = 1,
    parameter int SIZE = 7
);
  logic [63:0]  case_id [CASES];
  logic [127:0] as_codes[CASES*SIZE];
  logic [7:0]   as_scale[CASES*SIZE];
  logic [127:0] bs_codes[CASES*SIZE];
  logic [7:0]   bs_scale[CASES*SIZE];
  logic [31:0]  c       [CASES*SIZE*SIZE];
  logic [127:0] a_codes;
  logic [127:0] b_codes;
  logic [7:0]   a_scale;
  logic [7:0]   b_scale;
  logic [31:0]  dot;
  mxfp4_block_dot unit (.*);

  task automatic read(input string folder);
    string stem;
    stem = {folder, "/gemm.mxfp4.ocp/", GROUP};
    $readmemh({stem, ".case_id.hex"}, case_id);
    $readmemh({stem, ".a_codes.hex"}, as_codes);
    $readmemh({stem, ".a_scales.hex"}, as_scale);
    $readmemh({stem, ".b_codes.hex"}, bs_codes);
    $readmemh({stem, ".b_scales.hex"}, bs_scale);
    $readmemh({stem, ".c.hex"}, c);
  endtask

  task automatic check(inout int compared, inout int wrong);
    for (int k = 0; k < CASES; k++) begin
      for (int m = 0; m < SIZE; m++) begin
        for (int n = 0; n < SIZE; n++) begin
          a_codes = as_codes[k*SIZE+m];
          a_scale = as_scale[k*SIZE+m];
          b_codes = bs_codes[k*SIZE+n];
          b_scale = bs_scale[k*SIZE+n];
          #1;
          compared++;
          if (dot !== c[(k*SIZE+m)*SIZE+n]) begin
            wrong++;
            $display("MISMATCH case %016x, c[%0d][%0d]: %08x, must be %08x", case_id[k], m, n, dot,
                     c[(k*SIZE+m)*SIZE+n]);
          end
        end
      end
    end
  endtask
endmodule

// Every code under every scale, and dots of random blocks, against the functions of fp4proof_plain.h.
module against_reference #(
    parameter int DOTS = 20000
);
  import reference::*;
  logic [3:0]   code;
  logic [7:0]   scale;
  logic [31:0]  value;
  mxfp4_decode decoder (.*);
  logic [127:0] a_codes;
  logic [127:0] b_codes;
  logic [7:0]   a_scale;
  logic [7:0]   b_scale;
  logic [31:0]  dot;
  mxfp4_block_dot unit (.*);

  byte unsigned a_bytes[16];
  byte unsigned b_bytes[16];
  byte unsigned a_byte [1];
  byte unsigned b_byte [1];
  int unsigned  values [32];
  int unsigned  answer;

  task automatic check_decoder(inout int compared, inout int wrong);
    int profile;
    profile = fp4proof_profile("mxfp4/ocp");
    require(profile);
    for (int i = 0; i < 16; i++) a_bytes[i] = 8'(17 * i);  // code i twice
    for (int s = 0; s < 256; s++) begin
      a_byte[0] = 8'(s);
      require(fp4proof_dequantize_block(profile, a_bytes, a_byte, ONE, values));
      for (int i = 0; i < 16; i++) begin
        code = 4'(i);
        scale = 8'(s);
        #1;
        compared++;
        if (value !== values[2*i]) begin
          wrong++;
          $display("MISMATCH code %0d under scale %0d: %08x, must be %08x", i, s, value, values[2*i]);
        end
      end
    end
  endtask

  // A product is a normal number for scales that sum to about 254; half of the pairs lie around the smallest numbers.
  task automatic check_dots(inout int compared, inout int wrong);
    int profile;
    int total;
    profile = fp4proof_profile("mxfp4/ocp");
    require(profile);
    for (int k = 0; k < DOTS; k++) begin
      for (int i = 0; i < 16; i++) begin
        a_bytes[i] = 8'($urandom);
        b_bytes[i] = 8'($urandom);
        a_codes[8*i+:8] = a_bytes[i];
        b_codes[8*i+:8] = b_bytes[i];
      end
      a_scale = 8'($urandom);
      total = 96 + int'($urandom % 48);
      b_scale = (k % 2 == 0) ? 8'($urandom) : (total > int'(a_scale)) ? 8'(total - int'(a_scale)) : 8'd0;
      a_byte[0] = a_scale;
      b_byte[0] = b_scale;
      require(fp4proof_dot(profile, a_bytes, a_byte, ONE, profile, b_bytes, b_byte, ONE, 1, "seq", answer));
      #1;
      compared++;
      if (dot !== answer) begin
        wrong++;
        $display("MISMATCH random dot %0d, scales %0d and %0d, codes %032x and %032x: %08x, must be %08x", k, a_scale,
                 b_scale, a_codes, b_codes, dot, answer);
      end
    end
  endtask
endmodule

module mxfp4_bench #(
    parameter int DECODE_CASES = 1,
    parameter int DOT_CASES = 1,
    parameter int MORE_DOT_CASES = 1
);
  decode_vectors #(.GROUP("1x32"), .CASES(DECODE_CASES)) decode ();
  dot_vectors #(.GROUP("7x7x32-seq512"), .CASES(DOT_CASES), .SIZE(7)) dots ();
  dot_vectors #(.GROUP("16x16x32-seq512"), .CASES(MORE_DOT_CASES), .SIZE(16)) more_dots ();
  against_reference live ();

  string folder;
  int compared;
  int wrong;
  initial begin
    if (!$value$plusargs("vectors=%s", folder)) $fatal(1, "say where the vectors are: +vectors=DIR");
    compared = 0;
    wrong = 0;
    decode.read(folder);
    dots.read(folder);
    more_dots.read(folder);
    decode.check(compared, wrong);
    dots.check(compared, wrong);
    more_dots.check(compared, wrong);
    live.check_decoder(compared, wrong);
    live.check_dots(compared, wrong);
    $display("%0d compared, %0d wrong", compared, wrong);
    if (wrong != 0) $fatal(1, "the design differs from the reference");
    $finish;
  end
endmodule
