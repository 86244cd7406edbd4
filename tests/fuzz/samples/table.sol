Optimal - objective value 12.00000000
      0 P                              3                       4
      1 objective_offset               1                       0
      2 A_0                            0                       0
      3 A_1                            0                       0
      4 A_2                            1                       0
      5 A_3                            0                       0
      6 A_4                            2                       0
      7 z_0_2                          0                       0
      8 z_0_4                          0                       0
      9 z_1_2                          0                       0
     10 z_1_4                          0                       0
     11 z_2_4                          0                       0
     12 z_3_4                          0                       0
